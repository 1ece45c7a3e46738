"""File formats, one module each: `protocol` says what a format does, `detection` finds the format of a file."""
