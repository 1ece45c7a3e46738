"""Classifiers that learn from soft targets, one epoch at a time."""
