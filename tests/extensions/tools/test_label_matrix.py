"""Label matrices as Snorkel makes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from crowdlogic.data.formats.protocol import ReadOptions
from crowdlogic.data.reading import read_crowd
from crowdlogic.errors import FormatError

L = np.array([[1, -1, 0], [-1, -1, 0], [-1, -1, -1]])


def test_a_matrix_of_numpy(tmp_path: Path) -> None:
    np.save(tmp_path / "L.npy", L)

    labels = read_crowd(tmp_path / "L.npy").labels

    assert labels.to_frame().select("item", "annotator", "label").rows() == [
        (0, "lf_0", 1),
        (0, "lf_2", 0),
        (1, "lf_2", 0),
    ]
    assert labels.kind == ("code",) * 3
    assert len(labels.items) == 3


def test_an_archive_with_gold_and_names(tmp_path: Path) -> None:
    np.savez(tmp_path / "L.npz", L=L, Y=np.array([1, 0, -1]), lfs=np.array(["prize", "url", "short"]))

    crowd, named = read_crowd(tmp_path / "L.npz"), read_crowd(tmp_path / "L.npz", ReadOptions(classes=["ham", "spam"]))

    assert crowd.labels.annotators.to_list() == ["prize", "url", "short"]
    assert crowd.corpus is not None
    assert crowd.corpus.gold is not None
    assert crowd.corpus.gold.tolist() == [1, 0, -1]
    assert named.labels.to_frame()["label"].to_list() == ["spam", "ham", "ham"]


def test_the_only_matrix_of_whole_numbers_is_taken(tmp_path: Path) -> None:
    np.savez(tmp_path / "L.npz", votes=L, features=np.zeros((3, 2)))

    assert read_crowd(tmp_path / "L.npz").labels.n_labels == 3


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"L": np.zeros((2, 2))}, "expected an integer matrix (items x functions), found: L (2-d of float64). Save it as L."),
        ({"a": L, "b": L}, "expected an integer matrix (items x functions), found: a (2-d of int64), b (2-d of int64). Save it as L."),
        ({"L": L, "Y": np.array([1])}, "Y must have one integer per row of the matrix. Save it again."),
        ({"L": L, "lfs": np.array(["a", "a", "b"])}, "lfs must have one distinct name for each of the 3 functions."),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_refused(arrays: dict[str, np.ndarray], message: str, tmp_path: Path) -> None:
    np.savez(tmp_path / "L.npz", **arrays)

    with pytest.raises(FormatError) as caught:
        read_crowd(tmp_path / "L.npz")

    assert str(caught.value) == f"{tmp_path / 'L.npz'}: {message}"


def test_pickles_and_damage_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "o.npy", np.array([{"a": 1}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "L.npy", L)
    whole = (tmp_path / "L.npy").read_bytes()
    rng = np.random.default_rng(0)

    with pytest.raises(FormatError, match="the array cannot be read"):
        read_crowd(tmp_path / "o.npy")
    for _ in range(200):
        broken = bytearray(whole)
        broken[rng.integers(len(broken))] = rng.integers(256)
        (tmp_path / "L.npy").write_bytes(broken[: rng.integers(10, len(broken) + 1)])
        try:
            read_crowd(tmp_path / "L.npy")
        except FormatError as problem:
            assert "\n" not in str(problem)
