"""`crowdlogic`, and `python -m crowdlogic`: Ctrl-C is one line from the first moment on, while modules are loaded."""

from __future__ import annotations

import sys

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""


def main() -> None:
    """Run the command."""
    try:
        from crowdlogic.cli.app import main as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("crowdlogic: interrupted\n")
        sys.exit(INTERRUPTED)


if __name__ == "__main__":
    main()
