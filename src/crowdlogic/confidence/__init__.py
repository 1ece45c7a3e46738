"""Confidence."""
