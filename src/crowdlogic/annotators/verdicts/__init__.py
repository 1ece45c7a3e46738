"""Whom to trust: what labels and beliefs say of every annotator, and the verdict in a word with its reason."""
