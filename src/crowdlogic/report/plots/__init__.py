"""Drawing: scales, elements, charts over two axes, plots in rows, colours."""
