"""`crowdlogic`, and `python -m crowdlogic`: Ctrl-C and SIGTERM are one line each, even while modules are loaded."""

from __future__ import annotations

import signal
import sys
from contextlib import suppress


def main() -> None:
    """Run the command."""
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
    finally:  # all is written, or given up: a signal while Python ends should not change the exit code
        with suppress(ValueError):  # not the main thread
            for one in (signal.SIGINT, signal.SIGTERM):
                signal.signal(one, signal.SIG_IGN)


if __name__ == "__main__":
    main()
