"""Fixtures of the core's tests that tests of extensions use, too."""

from tests.cli.conftest import run, tagged
from tests.data.formats.conftest import with_votes
from tests.workflows.conftest import trained

__all__ = ["run", "tagged", "trained", "with_votes"]
