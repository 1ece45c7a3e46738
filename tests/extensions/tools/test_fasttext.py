"""fastText: what is written, what is read again, what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.data.corpus import documents
from crowdlogic.data.files import InputFile
from crowdlogic.data.frames import from_frame
from crowdlogic.data.reading import read_answers, read_corpus, write_estimate
from crowdlogic.errors import FormatError, OptionError
from crowdlogic.extensions.tools.fasttext import FASTTEXT, MARK
from crowdlogic.truth.majority import MajorityVote


def write(folder: Path, content: str) -> InputFile:
    path = folder / "f.ft"
    path.write_bytes(content.encode())
    return InputFile(path)


def test_answers_stand_before_their_texts_and_items_without_one_are_left_out(tmp_path: Path) -> None:
    labels = from_frame({"item": ["u", "v", "w"], "annotator": ["a", "a", "a"], "label": ["good", None, "bad"]})
    corpus = documents(["u", "v", "w"], ["two\r\nlines", "none", "שלום 😀"])

    write_estimate(tmp_path / "f.ft", MajorityVote().infer(labels), corpus=corpus)

    assert (tmp_path / "f.ft").read_text() == f"{MARK}good two lines\n{MARK}bad שלום 😀\n"


@given(st.lists(st.tuples(st.sampled_from(["a", "b-c", "ü"]), st.text()), min_size=1, max_size=6))
def test_labels_and_texts_of_one_line_are_read_again(pairs: list[tuple[str, str]]) -> None:
    texts = [" ".join(text.split()) for _, text in pairs]
    texts = [text.removeprefix(MARK) for text in texts]
    corpus = documents(range(len(pairs)), texts, gold=[label for label, _ in pairs])

    content = FASTTEXT.encode_corpus(corpus, "f.ft")
    found = FASTTEXT.read_corpus(_held(content))

    assert [found.classes[code] for code in found.gold] == [label for label, _ in pairs]  # type: ignore[union-attr]
    assert list(found.texts or ()) == texts


def _held(content: bytes) -> InputFile:
    file = InputFile("f.ft")
    file.__dict__["content"] = content
    return file


def test_a_file_of_another_suffix_is_recognised_by_its_labels(tmp_path: Path) -> None:
    (tmp_path / "train.data").write_text(f"{MARK}x one\n{MARK}y two\n")

    assert read_answers(tmp_path / "train.data").classes == ("x", "y")
    assert read_corpus(tmp_path / "train.data").texts == ("one", "two")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("", "the file is empty. fastText has a label and a text on each line."),
        (f"{MARK}x one\nno label\n", "line 2: no label at the start. Begin each line with __label__ and the label."),
        (f"{MARK} one\n", "line 1: no label at the start. Begin each line with __label__ and the label."),
        (
            f"\n{MARK}x {MARK}y one\n",
            "line 2: a text with several labels. Keep one label, or make a separate file for each label.",
        ),
    ],
)
def test_malformed_lines_are_named(tmp_path: Path, content: str, problem: str) -> None:
    file = write(tmp_path, content)

    with pytest.raises(FormatError) as raised:
        FASTTEXT.read_answers(file)

    assert str(raised.value) in (f"{file.name}: {problem}", f"{file.name}, {problem}")


def test_what_the_format_cannot_hold_is_refused() -> None:
    spaced = documents(["u"], ["text"], gold=["two words"])
    bare = documents(["u"], ["text"])

    with pytest.raises(OptionError, match="the class 'two words' contains white space, which fastText forbids"):
        FASTTEXT.encode_corpus(spaced, "f.ft")
    with pytest.raises(OptionError, match="the items have no gold"):
        FASTTEXT.encode_corpus(bare, "f.ft")
