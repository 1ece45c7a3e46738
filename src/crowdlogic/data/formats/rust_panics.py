"""What Rust says on standard error when polars stumbles over a file: held back, since our own line follows."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import polars as pl

STANDARD_ERROR = 2


@contextmanager
def hold_back_panics() -> Iterator[None]:
    """Hold back what is written to standard error within the block, and write it at the end unless polars panicked."""
    try:
        before = os.dup(STANDARD_ERROR)
    except OSError:  # there is no standard error
        yield
        return
    with tempfile.TemporaryFile() as held:
        if sys.stderr is not None:
            sys.stderr.flush()
        os.dup2(held.fileno(), STANDARD_ERROR)
        panicked = False
        try:
            yield
        except pl.exceptions.PanicException:
            panicked = True
            raise
        finally:
            os.dup2(before, STANDARD_ERROR)
            os.close(before)
            held.seek(0)
            if not panicked and (said := held.read()):
                with suppress(OSError):
                    os.write(STANDARD_ERROR, said)
