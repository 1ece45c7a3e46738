"""File formats, one module each; `protocol` defines their interface and finds the format of a file."""
