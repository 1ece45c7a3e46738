"""Prodigy's JSONL: choices, spans marked by hand, and decisions about one label at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.data.formats.exports import write_lines

from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import ReadOptions, detect_format
from crowdlogic.data.reading import read_crowd
from crowdlogic.errors import FormatError

TEXT = "First look at the new MacBook Pro"
TOKENS = [{"text": word, "start": TEXT.index(word), "end": TEXT.index(word) + len(word), "id": n, "ws": True} for n, word in enumerate(TEXT.split())]  # fmt: skip


def done(who: str | None, answer: str = "accept", *, item: int = 1, at: int = 0, **fields: Any) -> dict[str, Any]:
    hashes = {"_input_hash": item, "_task_hash": item * 10, "_session_id": who, "_annotator_id": who, "_timestamp": at}
    return {"text": TEXT} | hashes | {"answer": answer} | fields


def chosen(who: str, *options: str, **more: Any) -> dict[str, Any]:
    both = [{"id": "GOOD", "text": "good"}, {"id": "BAD", "text": "bad"}]
    return done(who, options=both, accept=list(options), _view_id="choice", **more)


def test_a_choice_is_the_id_of_its_option(tmp_path: Path) -> None:
    records = [
        chosen("ds-ann", "GOOD"),
        chosen("ds-bob", "BAD"),
        chosen("ds-eve", answer="ignore"),
        chosen("ds-eve", "BAD", item=2),
    ]
    path = write_lines(tmp_path / "p.jsonl", records)

    crowd = read_crowd(path)

    assert detect_format(InputFile(path)).name == "prodigy"
    assert crowd.labels.to_frame().select("annotator", "label").rows() == [
        ("ds-ann", "GOOD"),
        ("ds-bob", "BAD"),
        ("ds-eve", "BAD"),
    ]
    assert crowd.labels.intake.messages() == ["1 task ignored: no label (first: record 3)."]


def test_several_options_at_once_are_asked_for_one_by_one(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "p.jsonl", [chosen("a", "GOOD", "BAD"), chosen("b", "GOOD")])

    with pytest.raises(FormatError, match=r"record 1: 2 answers at once \(GOOD, BAD\)\. .* --question choice=GOOD\."):
        read_crowd(path)
    assert read_crowd(path, ReadOptions(question="choice=BAD")).labels.to_frame()["label"].to_list() == ["yes", "no"]


def test_spans_by_characters_and_by_tokens_are_the_same(tmp_path: Path) -> None:
    by_characters = done(
        "a", tokens=TOKENS, spans=[{"start": 22, "end": 33, "label": "PRODUCT"}], _view_id="ner_manual"
    )
    by_tokens = done(
        "b", tokens=TOKENS, spans=[{"token_start": 5, "token_end": 6, "label": "PRODUCT"}], _view_id="ner_manual"
    )
    nothing = done("c", tokens=TOKENS, spans=[], _view_id="ner_manual")
    path = write_lines(tmp_path / "p.jsonl", [by_characters, by_tokens, nothing])

    crowd = read_crowd(path)

    tags = crowd.labels.to_frame().partition_by("annotator", as_dict=True)
    assert tags["a",]["label"].to_list() == ["O"] * 5 + ["B-PRODUCT", "I-PRODUCT"]
    assert tags["b",]["label"].to_list() == tags["a",]["label"].to_list(), "token_end is the last token of the span"
    assert tags["c",]["label"].to_list() == ["O"] * 7, "seen, no entity"
    assert crowd.corpus is not None
    assert crowd.corpus.tokens == tuple(TEXT.split())


def test_a_rejected_text_is_no_label(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "p.jsonl", [done("a", tokens=TOKENS, spans=[]), done("b", "reject", tokens=TOKENS, spans=[])]
    )

    labels = read_crowd(path).labels

    assert labels.annotators.to_list() == ["a"]
    assert labels.intake.messages() == ["1 task rejected as a whole: no label (first: record 2)."]


def test_with_one_label_a_rejection_is_its_opposite(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "p.jsonl",
        [done("a", label="SPAM"), done("b", "reject", label="SPAM"), done("c", "ignore", label="SPAM")],
    )

    labels = read_crowd(path).labels

    assert labels.classes == ("SPAM", "not SPAM")
    assert labels.negated is None
    assert labels.to_frame()["label"].to_list() == ["SPAM", "not SPAM"]


def test_with_several_labels_a_rejection_is_a_partial_label(tmp_path: Path) -> None:
    records = [
        done("a", "reject", label="SPORT"),
        done("b", label="SPORT"),
        done("b", "reject", label="NEWS"),
        done("c", "reject", label="SPORT"),
        done("c", "reject", label="NEWS"),
        done("d", "reject", label="SPORT"),
        done("d", "reject", label="NEWS"),
        done("d", "reject", label="ARTS", item=2),
        done("b", label="ARTS", item=2),
        done("b", label="MUSIC", item=3),
    ]
    path = write_lines(tmp_path / "p.jsonl", records)

    labels = read_crowd(path).labels

    assert labels.negated is not None
    said = [
        (item, who, label, bool(no))
        for (item, who, label), no in zip(
            labels.to_frame().select("item", "annotator", "label").rows(), labels.negated, strict=True
        )
    ]
    assert said == [
        (1, "a", "SPORT", True),
        (1, "b", "SPORT", False),
        (1, "c", "SPORT", True),
        (1, "c", "NEWS", True),
        (1, "d", "SPORT", True),
        (1, "d", "NEWS", True),
        (2, "b", "ARTS", False),
        (2, "d", "ARTS", True),
        (3, "b", "MUSIC", False),
    ]  # fmt: skip


def test_what_is_left_when_all_others_were_rejected_is_the_label(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "p.jsonl", [done("a", "reject", label="X"), done("a", "reject", label="Y"), done("b", label="Z")]
    )

    labels = read_crowd(path).labels

    assert labels.negated is None
    assert labels.to_frame()["label"].to_list() == ["Z", "Z"]


def test_one_label_of_several_can_be_asked_for(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "p.jsonl", [done("a", label="X"), done("b", "reject", label="X"), done("c", label="Y")]
    )

    labels = read_crowd(path, ReadOptions(question="label=X")).labels

    assert labels.to_frame().select("annotator", "label").rows() == [("a", "yes"), ("b", "no")]


def test_the_last_decision_counts(tmp_path: Path) -> None:
    path = write_lines(
        tmp_path / "p.jsonl",
        [done("a", "reject", at=5, label="X"), done("a", at=9, label="X"), done("b", "reject", label="X")],
    )

    assert read_crowd(path).labels.to_frame()["label"].to_list() == ["X", "not X"]


def test_a_folder_has_one_file_per_annotator(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    for name, label in (("ann", "GOOD"), ("bob", "BAD")):
        task = chosen(name, label) | {"_annotator_id": None, "_session_id": None}
        write_lines(tmp_path / "p" / f"{name}.jsonl", [task])

    labels = read_crowd(tmp_path / "p").labels

    assert labels.to_frame().select("annotator", "label").rows() == [("ann", "GOOD"), ("bob", "BAD")]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"answer": "maybe"}, "record 2: the answer must be one of accept, reject, ignore; got 'maybe'."),
        ({"_annotator_id": {"a": 1}}, "record 2: the annotator is not a name (_annotator_id)."),
        ({"text": 3, "_input_hash": 5}, "record 2: the text is not a string."),
        ({"text": None, "_input_hash": None}, "record 2: neither an input hash nor a text."),
        ({"tokens": [{"start": 3}]}, "record 2: the token \"{'start': 3}\" lies outside the text or out of order."),
        ({"spans": 7}, "record 2: spans is not a list."),
        ({"spans": [{"start": 1}]}, "record 2: expected a span with start, end and label, found \"{'start': 1}\"."),
        ({"spans": [{"token_start": 0, "token_end": 7, "label": "X"}]}, "record 2: expected a span with start, end and label, found \"{'token_start': 0, 'token_end': 7, 'label': 'X'}\"."),
        ({"_view_id": "ner"}, "record 2: a decision about one span, which does not cover the rest of its text."),
    ],
)  # fmt: skip
def test_a_malformed_task_gets_one_line_with_its_number(wrong: dict[str, Any], message: str, tmp_path: Path) -> None:
    tasks = [done("a", tokens=TOKENS, spans=[]), done("b", tokens=TOKENS, spans=[]) | wrong]
    path = write_lines(tmp_path / "p.jsonl", tasks)

    with pytest.raises(FormatError) as caught:
        read_crowd(path)

    assert str(caught.value).startswith(f"{path}, {message}")


def test_a_task_that_asks_nothing_is_refused(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "p.jsonl", [done("a", image="x.png")])

    with pytest.raises(FormatError, match="record 1: neither options, spans nor a label"):
        read_crowd(path)
