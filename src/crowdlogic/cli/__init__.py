"""Command line interface, with one file per command."""
