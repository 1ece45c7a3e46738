"""Numerical building blocks, independent of labels and files: array types, log space, linear chains, kernels."""
