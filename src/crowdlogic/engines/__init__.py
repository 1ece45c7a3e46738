"""Shards of labels, and sweeps over them."""
