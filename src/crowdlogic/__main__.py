"""`crowdlogic`, and `python -m crowdlogic`: Ctrl-C is one line from the first moment on, while modules are loaded."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import suppress

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def main() -> None:
    """Run the command, and end with it."""
    try:
        run_command()
    except SystemExit as end:
        leave(end.code if isinstance(end.code, int) else int(end.code is not None))


def run_command() -> None:
    """Run the command."""
    gc.disable()  # what is being loaded holds no garbage: looking for it takes 0.01 s. A command enables it again
    try:
        from crowdlogic.cli.console import protect_streams

        protect_streams()
        from crowdlogic.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("crowdlogic: interrupted\n")
        sys.exit(INTERRUPTED)


def leave(code: int) -> None:
    """End at once: Python would first free every array, which takes 0.02 s of a million labels."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
