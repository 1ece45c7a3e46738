"""Mangled files: every outcome is a CrowdLogicError or a valid table, never another exception."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crowdlogic.data.formats.protocol import ReadOptions
from crowdlogic.data.reading import read_answers, read_corpus, read_crowd
from crowdlogic.data.vectors import read_vectors
from crowdlogic.errors import CrowdLogicError
from crowdlogic.truth.majority import MajorityVote

SOUND = {
    "csv": b'item,annotator,label,weight,time,kind\nu,a,x,1,2024-01-01,human\nu,b,"y, ""z""",0.5,2024-01-02,llm\nv,a,x,2,,human\n',
    "tsv": b"item\tannotator\ttags\ns\ta\tO B-X\ns\tb\tO O\nt\ta\tB-X\n",
    "jsonl": b'{"item":1,"annotator":"a","label":"x"}\n{"item":2,"annotator":"b","label":"y"}\n{"doc":"d","tokens":["a","b"],"crowd":{"w":["O","B-X"]},"tags":["O","O"]}\n',
    "conll": b"# annotators = a b\n# id = s1\nAnn B-PER O\nLee I-PER ?\n\nParis ? B-LOC\n",
}  # fmt: skip
PIECES = [
    b"\n",
    b"\r\n",
    b",",
    b'"',
    b"\t",
    b" ",
    b"\x00",
    b"\xff\xfe",
    b"\xef\xbb\xbf",
    b"{",
    b"}",
    b"[1]",
    b"null",
    b"NaN",
    b"1e999",
    b"?",
    b"O",
    b"# id = ",
    b"item",
    b"label",
    b"tags",
    b"-",
    b'{"item":',
    b"\x1f\x8b",
    b"PAR1",
    "é\u2028".encode(),
    b"9" * 30,
]


@st.composite
def mangled(draw: st.DrawFn, sound: bytes) -> bytes:
    """A sound file with pieces cut out, doubled, turned or put in."""
    content = sound
    for _ in range(draw(st.integers(0, 5))):
        start = draw(st.integers(0, len(content)))
        end = draw(st.integers(start, min(len(content), start + 30)))
        piece = draw(st.one_of(st.sampled_from(PIECES), st.binary(max_size=6)))
        change = draw(st.sampled_from(["cut", "double", "insert", "replace", "truncate"]))
        content = {
            "cut": content[:start] + content[end:],
            "double": content[:end] + content[start:],
            "insert": content[:start] + piece + content[start:],
            "replace": content[:start] + piece + content[end:],
            "truncate": content[:start],
        }[change]
    return gzip.compress(content)[: draw(st.integers(20, 10**6))] if draw(st.integers(0, 19)) == 0 else content


def _use(read: Callable[[Path], object], path: Path) -> None:
    """Read, and see that what was read can be used; a CrowdLogicError of one line is the only other outcome."""
    try:
        found = read(path)
    except CrowdLogicError as problem:
        assert str(problem)
        assert "\n" not in str(problem).strip()
        return
    labels = getattr(found, "labels", None)
    if labels is not None:
        estimate = MajorityVote().infer(labels)
        assert len(estimate.to_frame()) == labels.n_units
        np.testing.assert_allclose(estimate.beliefs.sum(axis=1), 1.0 if labels.n_classes else 0.0, rtol=0, atol=1e-9)
        assert labels.n_labels == int(labels.votes(weighted=False).sum())


@pytest.mark.parametrize("suffix", SOUND)
@pytest.mark.parametrize("read", [read_crowd, read_corpus, read_answers], ids=lambda read: read.__name__)
def test_mangled_files_are_refused_or_read(suffix: str, read: Callable[[Path], object], tmp_path: Path) -> None:
    @settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
    @given(mangled(SOUND[suffix]))
    def check(content: bytes) -> None:
        path = tmp_path / f"f.{suffix}"
        path.write_bytes(content)
        _use(read, path)

    check()


@pytest.mark.parametrize("suffix", ["csv", "conll"])
def test_wide_and_named_classes_survive_mangling(suffix: str, tmp_path: Path) -> None:
    @settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
    @given(
        mangled(SOUND[suffix]), st.booleans(), st.sampled_from([None, ["x", "y"]]), st.sampled_from(["keep", "last"])
    )
    def check(content: bytes, wide: bool, classes: list[str] | None, duplicates: str) -> None:
        path = tmp_path / f"f.{suffix}"
        path.write_bytes(content)
        _use(lambda p: read_crowd(p, ReadOptions(wide=wide, classes=classes, duplicates=duplicates)), path)

    check()


def test_mangled_vectors_are_refused_or_read(tmp_path: Path) -> None:
    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    @given(mangled(b"2 3\nthe 0.1 0.2 0.3\ncat -1 2e3 0\n"))
    def check(content: bytes) -> None:
        path = tmp_path / "v.txt"
        path.write_bytes(content)
        _use(read_vectors, path)

    check()
