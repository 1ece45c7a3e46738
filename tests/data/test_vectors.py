from __future__ import annotations

import contextlib
import gzip
import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from crowdlogic.data.vectors import WordVectors, concatenate_vectors, read_vectors
from crowdlogic.errors import FormatError

WORDS = ("the", "Cat", "naïve", "new york")
VECTORS = np.array([[0.5, -1.25], [3.0, 4.5], [1e-3, 2e3], [7.0, 8.0]], dtype=np.float32)


def as_text(*, header: bool) -> bytes:
    lines = [f"{word} {' '.join(map(str, row))}" for word, row in zip(WORDS, VECTORS.tolist(), strict=True)]
    return ("4 2\n" * header + "\n".join(lines) + "\n").encode()


def as_binary(*, breaks: bool) -> bytes:
    words = [word.replace(" ", "_") for word in WORDS]
    body = b"".join(
        w.encode() + b" " + row.astype("<f4").tobytes() + b"\n" * breaks for w, row in zip(words, VECTORS, strict=True)
    )
    return b"4 2\n" + body


@pytest.mark.parametrize(
    "content",
    [as_text(header=False), as_text(header=True), gzip.compress(as_text(header=False), mtime=0)],
    ids=["glove", "word2vec", "gzip"],
)
def test_text_vectors_are_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "v.txt").write_bytes(content)

    vectors = read_vectors(tmp_path / "v.txt")

    assert vectors.words == WORDS
    np.testing.assert_array_equal(vectors.vectors, VECTORS)


@pytest.mark.parametrize("breaks", [True, False])
def test_binary_vectors_are_read(tmp_path: Path, breaks: bool) -> None:
    (tmp_path / "v.bin").write_bytes(as_binary(breaks=breaks))

    vectors = read_vectors(tmp_path / "v.bin")

    assert vectors.words == ("the", "Cat", "naïve", "new_york")
    np.testing.assert_array_equal(vectors.vectors, VECTORS)


def test_npz_vectors_are_read(tmp_path: Path) -> None:
    np.savez(tmp_path / "v.npz", words=np.array(WORDS), vectors=VECTORS.astype(np.float16))

    vectors = read_vectors(tmp_path / "v.npz")

    assert vectors.words == WORDS
    np.testing.assert_allclose(vectors.vectors, VECTORS, rtol=1e-3, atol=0)


@pytest.mark.parametrize("name", ["v.txt", "v.bin", "v.npz"])
def test_only_the_wanted_words_are_kept(tmp_path: Path, name: str) -> None:
    (tmp_path / "v.txt").write_bytes(as_text(header=True))
    (tmp_path / "v.bin").write_bytes(as_binary(breaks=True))
    np.savez(tmp_path / "v.npz", words=np.array(WORDS), vectors=VECTORS)

    vectors = read_vectors(tmp_path / name, vocabulary=["THE", "Cat", "dog"])

    assert vectors.words == ("the", "Cat")
    np.testing.assert_array_equal(vectors.vectors, VECTORS[:2])


def test_a_word_is_looked_up_as_it_is_then_in_lower_case() -> None:
    vectors = WordVectors(("the", "Cat"), VECTORS[:2])

    assert vectors.rows(["the", "The", "Cat", "cat"]).tolist() == [0, 0, 1, -1]
    assert vectors.rows(["the", "The", "Cat", "cat"], exact=True).tolist() == [0, -1, 1, -1]
    assert vectors.coverage(["the", "The", "cat", "dog"]) == 0.5


def test_unknown_words_are_zero_or_as_given() -> None:
    vectors = WordVectors(("the",), VECTORS[:1])
    given = np.full((2, 2), 9.0, dtype=np.float32)

    np.testing.assert_array_equal(vectors.matrix(["dog", "the"]), [[0, 0], [0.5, -1.25]])
    np.testing.assert_array_equal(vectors.matrix(["dog", "the"], unknown=given), [[9, 9], [0.5, -1.25]])


def test_two_sets_stand_side_by_side() -> None:
    joined = concatenate_vectors(WordVectors(("a", "b"), VECTORS[:2]), WordVectors(("b", "c"), VECTORS[2:]), unit=False)

    np.testing.assert_array_equal(
        joined.matrix(["a", "b", "c"]),
        np.array([[0.5, -1.25, 0, 0], [3, 4.5, 1e-3, 2e3], [0, 0, 7, 8]], dtype=np.float32),
    )


def test_sets_side_by_side_are_brought_to_length_one_so_that_none_drowns_another() -> None:
    long = WordVectors(("a", "b"), np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32))
    short = WordVectors(("a",), np.array([[0.0, 0.5]], dtype=np.float32))

    both = concatenate_vectors(long, short)

    np.testing.assert_allclose(both.vectors, [[0.6, 0.8, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0]], rtol=1e-6)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "v.txt: the file is empty. Vectors have a word and its numbers on each line."),
        (b"the\n", "v.txt, line 1: a word without numbers. Add the vector of each word."),
        (b"the 1 2\ncat 1\n", "v.txt, line 2: 1 number, but the first line has 2."),
        (
            b"the 1 2\ncat 1 x\n",
            "v.txt: the vector of 'cat' contains a value that is not a number (could not convert string to float: b'x').",
        ),
        (as_binary(breaks=False)[:-3], "v.txt: the file ends at word 4 of 4. Fetch it again."),
        (b"PK\x03\x04junk", None),
    ],
)
def test_bad_vectors_get_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, message: str | None
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("v.txt").write_bytes(content)

    with pytest.raises(FormatError) as caught:
        read_vectors("v.txt")

    assert (
        str(caught.value) == message
        if message
        else str(caught.value).startswith("v.txt: is not an npz file of the arrays words and vectors")
    )


@pytest.mark.data
def test_the_cut_vectors_have_their_stated_sizes(data_root: Path) -> None:
    glove = read_vectors(data_root / "vectors/glove_wink_100d_subset.npz")
    word2vec = read_vectors(data_root / "vectors/word2vec_googlenews_300d_bolukbasi_subset.npz")

    assert (len(glove.words), glove.size) == (24_852, 100)
    assert (len(word2vec.words), word2vec.size) == (13_431, 300)
    np.testing.assert_allclose(np.linalg.norm(word2vec.vectors, axis=1), 1.0, rtol=0, atol=2e-3)


def test_the_word_itself_comes_before_its_lower_case() -> None:
    vectors = WordVectors(("apple", "Apple"), VECTORS[:2])

    assert vectors.rows(["Apple", "apple", "APPLE"]).tolist() == [1, 0, 0]


def test_no_word_known_is_all_zeros(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_bytes(as_text(header=False))

    vectors = read_vectors(tmp_path / "v.txt", vocabulary=["zzz"])

    np.testing.assert_array_equal(vectors.matrix(["zzz"]), [[0.0, 0.0]])


def test_a_text_file_with_fewer_words_than_it_says_is_refused(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_bytes(as_text(header=True).replace(b"4 2", b"5 2"))

    with pytest.raises(FormatError, match=r"contains 4 words, but its first line says 5\. Fetch it again\."):
        read_vectors(tmp_path / "v.txt")


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", ["text", "binary", "npz"])
def test_a_vector_that_is_not_finite_is_refused_by_its_word(tmp_path: Path, kind: str, bad: float) -> None:
    vectors = np.array([[1, 2], [3, bad], [5, 6]], dtype=np.float32)
    if kind == "npz":
        np.savez(tmp_path / "v", words=np.array(["a", "b", "c"]), vectors=vectors)
    elif kind == "text":
        (tmp_path / "v.npz").write_text(
            "".join(f"{word} {x} {y}\n" for word, (x, y) in zip("abc", vectors, strict=True))
        )
    else:
        rows = b"".join(w.encode() + b" " + v.tobytes() for w, v in zip("abc", vectors, strict=True))
        (tmp_path / "v.npz").write_bytes(b"3 2\n" + rows)

    with pytest.raises(FormatError) as refused:
        read_vectors(tmp_path / "v.npz")

    assert (
        str(refused.value) == f"{tmp_path / 'v.npz'}: the vector of 'b' contains NaN or infinities. Remove such words."
    )


def npz(members: dict[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", compression) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return packed.getvalue()


def npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


NAMES, NUMBERS = npy(np.array(["a", "b"])), npy(np.ones((2, 3), np.float32))


@pytest.mark.parametrize(
    "content",
    [
        npz({"words.npy": NAMES}),
        npz({"words.npy": NAMES, "vectors.npy": b""}),
        npz({"words.npy": NAMES, "vectors.npy": NUMBERS[:-1]}),
        npz({"words.npy": NAMES, "vectors.npy": NUMBERS.replace(b"'<f4'", b"'|O' ")}),
        npz({"words.npy": NAMES, "vectors.npy": NUMBERS.replace(b"'<f4'", b"'<c8'")}),
        npz({"words.npy": NAMES, "vectors.npy": NUMBERS.replace(b"(2, 3)", b"(-2,3)")}),
        npz({"words.npy": NAMES, "vectors.npy": NUMBERS.replace(b"(2, 3), }            ", b"(1000000000000, 3), }")}),
        npz({"words.npy": NAMES, "vectors.npy": NUMBERS.replace(b"'descr'", b"'descx'")}),
        npz({"words.npy": NAMES, "vectors.npy": NUMBERS[:6] + b"\x09\x09" + NUMBERS[8:]}),
        npz({"words.npy": NUMBERS, "vectors.npy": NUMBERS}),
        npz({"words.npy": NAMES, "vectors.npy": NAMES}),
        npz({"words.npy": npy(np.array(["a"])), "vectors.npy": NUMBERS}),
        npz({"words.npy": NAMES, "vectors.npy": NUMBERS})[:-30],
        npz({"words.npy": NAMES, "vectors.npy": NUMBERS}).replace(b"\x08\x00", b"\x63\x00"),
    ],
)
def test_an_npz_that_is_none_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "v.npz").write_bytes(content)

    with pytest.raises(FormatError) as refused:
        read_vectors(tmp_path / "v.npz")

    assert "\n" not in str(refused.value)


def test_every_byte_of_an_npz_may_be_wrong(tmp_path: Path) -> None:
    whole = npz({"words.npy": NAMES, "vectors.npy": NUMBERS})
    for at in range(len(whole)):
        for value in (0, 255, whole[at] ^ 1):
            (tmp_path / "v.npz").write_bytes(whole[:at] + bytes([value]) + whole[at + 1 :])
            with contextlib.suppress(FormatError):
                read_vectors(tmp_path / "v.npz")


def test_a_bomb_in_an_npz_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "v.npz").write_bytes(npz({"words.npy": NAMES, "vectors.npy": npy(np.zeros((2, 2_000_000)))}))
    monkeypatch.setenv("CROWDLOGIC_MAX_UNPACKED", "20M")

    with pytest.raises(FormatError, match="decompresses to more than 20 MiB"):
        read_vectors(tmp_path / "v.npz")


@pytest.mark.parametrize("counts", ["9" * 5000 + " 2", "2 " + "9" * 5000])
def test_counts_beyond_all_bounds_are_refused(tmp_path: Path, counts: str) -> None:
    (tmp_path / "v.txt").write_text(f"{counts}\na 1 2\n")

    with pytest.raises(FormatError, match="are too large"):
        read_vectors(tmp_path / "v.txt")
