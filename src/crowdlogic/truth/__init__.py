"""What is true, from the labels alone: one module per family of methods."""
