"""Calibrated confidence, expected accuracy, and verdicts on annotators."""
