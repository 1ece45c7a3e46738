"""Logical rules over labels: from a text file to a posterior."""
