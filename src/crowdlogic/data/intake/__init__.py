"""The input contract: columns, cells, duplicates, and the errors that name file and row."""
