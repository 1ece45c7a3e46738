"""Importing stays quick: nothing heavy is loaded before it is needed."""

from __future__ import annotations

import subprocess
import sys

import pytest

import crowdlogic


@pytest.mark.parametrize(
    ("words", "absent"),
    [
        ("import crowdlogic", {"numba", "scipy", "sklearn", "torch"}),
        ("import crowdlogic.truth.methods", {"numba", "scipy.stats", "torch"}),
    ],
)
def test_what_an_import_does_not_load(words: str, absent: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{words}; import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )

    assert not absent & set(done.stdout.split())


def test_a_small_fit_does_not_load_the_compiler() -> None:
    code = (
        "from crowdlogic import DawidSkene, IBCC, GLAD, MACE, EBCC, HMMCrowd, from_matrix, from_sequences;"
        "labels = from_matrix([[0, 1, 0], [1, 1, 1], [0, 0, 1]]);"
        "[method.infer(labels) for method in (DawidSkene(), IBCC(), GLAD(), MACE(), EBCC())];"
        "HMMCrowd().infer(from_sequences([(0, 0, ['O', 'B-X']), (0, 1, ['O', 'O'])]));"
        "import sys; print('numba' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


def test_every_public_name_is_there() -> None:
    for name in crowdlogic.__all__:
        assert getattr(crowdlogic, name) is not None

    with pytest.raises(AttributeError, match="module 'crowdlogic' has no attribute 'Nothing'"):
        crowdlogic.Nothing  # noqa: B018
