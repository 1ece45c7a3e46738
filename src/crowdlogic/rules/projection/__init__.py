"""Projection of beliefs onto rules: single units, chains, graphs."""
