"""Numbers and nothing else: array types, log space, kernels. Knows no labels, no items, no files."""
