"""Classifiers that learn from soft targets, one epoch at a time. `registry.CLASSIFIERS` lists them by name."""
