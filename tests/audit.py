"""`python -m tests.audit`: licences of dependencies, and their known vulnerabilities where pip-audit can be had."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import Distribution, PackageNotFoundError, distribution


def dependencies(name: str = "crowdlogic") -> dict[str, Distribution]:
    """The installed dependencies of a distribution, and theirs, by name; those of extras only where installed."""
    found: dict[str, Distribution] = {}
    waiting = [name]
    while waiting:
        one = re.split(r"[^A-Za-z0-9._-]", waiting.pop(), maxsplit=1)[0].lower().replace("_", "-")
        if one in found:
            continue
        try:
            found[one] = distribution(one)
        except PackageNotFoundError:  # of an extra, or of another system
            continue
        waiting += found[one].requires or []
    return dict(sorted(found.items()))


def licence(one: Distribution) -> str:
    """What a distribution says of its licence, in a line."""
    said = one.metadata
    classifiers = [
        line.rpartition(" :: ")[2] for line in said.get_all("Classifier") or [] if line.startswith("License")
    ]
    text = said.get("License-Expression") or ", ".join(classifiers) or (said.get("License") or "").partition("\n")[0]
    return text[:80] or "not stated"


def main() -> None:
    """Print the licences, then what pip-audit finds. Exit code 1 if it finds something."""
    for name, one in dependencies().items():
        sys.stdout.write(f"{name} {one.version}: {licence(one)}\n")
    sys.stdout.flush()
    audit = subprocess.run(
        [sys.executable, "-m", "pip_audit", "--progress-spinner", "off"], check=False, capture_output=True, text=True
    )
    if audit.returncode == 0:
        sys.stdout.write("pip-audit: no known vulnerabilities\n")
    elif "Found" in audit.stderr:
        sys.stdout.write(audit.stdout + audit.stderr)
        sys.exit(1)
    else:
        reason = (audit.stderr.strip().splitlines() or ["no reason given"])[-1]
        sys.stdout.write(f"pip-audit: not run, so vulnerabilities are unknown ({reason:.300})\n")


if __name__ == "__main__":
    main()
