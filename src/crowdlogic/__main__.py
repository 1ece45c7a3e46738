"""`crowdlogic`, and `python -m crowdlogic`: Ctrl-C is one line from the first moment on, while modules are loaded."""

from __future__ import annotations

import gc
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
    finally:
        gc.freeze()  # else Python looks through all that was loaded for cycles when it ends: a twentieth of a second


if __name__ == "__main__":
    main()
