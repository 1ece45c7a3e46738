"""The paper's experiments: rows of its tables, run over seeds."""
