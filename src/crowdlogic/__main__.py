"""`crowdlogic`, and `python -m crowdlogic`: Ctrl-C and SIGTERM are one line each, even while modules are loaded."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from contextlib import suppress


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
        from crowdlogic.cli.console import catch_termination, protect_streams

        catch_termination()
        protect_streams()
        from crowdlogic.cli.app import main as run

        run()
    except KeyboardInterrupt:
        from crowdlogic.cli.console import interruption  # again: it may have been interrupted, too

        word, code = interruption()
        sys.stderr.write(f"crowdlogic: {word}\n")
        sys.exit(code)


def leave(code: int) -> None:
    """End at once: Python would first free every array, which takes 0.02 s of a million labels."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
