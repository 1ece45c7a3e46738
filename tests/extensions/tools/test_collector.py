"""What importers gather, made into a Crowd."""

from __future__ import annotations

import pytest

from crowdlogic.data.formats.protocol import ReadOptions
from crowdlogic.errors import FormatError
from crowdlogic.extensions.tools.collector import Collector


def test_items_keep_numbers_and_become_text_only_when_mixed() -> None:
    numbers, mixed = Collector("e", ReadOptions()), Collector("e", ReadOptions())
    for collector, names in ((numbers, [3, 1]), (mixed, [3, "x"])):
        for name in names:
            collector.label(collector.item(name), "ann", "yes", record=1)

    assert numbers.crowd().labels.items.to_list() == [3, 1]
    assert mixed.crowd().labels.items.to_list() == ["3", "x"]


def test_an_item_named_as_number_and_as_text_is_refused() -> None:
    collector = Collector("e", ReadOptions())
    for name in (1, "1", "x"):
        collector.label(collector.item(name), "ann", "yes", record=1)

    with pytest.raises(FormatError, match="item '1' occurs both as a number and as text"):
        collector.crowd()


def test_the_exports_own_tokens_are_used_where_all_texts_have_them() -> None:
    collector = Collector("e", ReadOptions())
    item = collector.item("u", text="don't go", tokens=[(0, 5), (6, 8)])
    collector.spans(item, "ann", [(0, 5, "X")], record=1)

    crowd = collector.crowd()

    assert crowd.corpus is not None
    assert crowd.corpus.tokens == ("don't", "go")
    assert crowd.labels.to_frame()["label"].to_list() == ["B-X", "O"]


def test_labels_and_spans_do_not_mix() -> None:
    collector = Collector("e", ReadOptions())
    item = collector.item("u", text="a")
    collector.label(item, "ann", "yes", record=1)
    collector.spans(item, "ann", [], record=1)

    with pytest.raises(FormatError, match="the file has both labels of texts and marked spans"):
        collector.crowd()


@pytest.mark.parametrize(
    ("text", "span", "message"),
    [
        (None, (0, 1, "X"), "e, record 2: marked spans without a text. Include the texts in the export."),
        ("abc", (2, 5, "X"), "e, record 2: the span 2 to 5 lies outside the text of 3 characters. Export the file again; offsets are in characters and start at 0."),
        ("abc", (-1, 2, "X"), "e, record 2: the span -1 to 2 lies outside the text of 3 characters. Export the file again; offsets are in characters and start at 0."),
        ("abc", (1, 1, "X"), "e, record 2: the span 1 to 1 lies outside the text of 3 characters. Export the file again; offsets are in characters and start at 0."),
        ("abc", (0, 1, " "), "e, record 2: the span 0 to 1 has no type. Give each span a label."),
    ],
)  # fmt: skip
def test_spans_must_lie_in_a_text(text: str | None, span: tuple[int, int, str], message: str) -> None:
    collector = Collector("e", ReadOptions())

    with pytest.raises(FormatError) as caught:
        collector.spans(collector.item("u", text=text), "ann", [span], record=2)

    assert str(caught.value) == message


def test_half_a_character_is_refused_in_one_line() -> None:
    collector = Collector("e", ReadOptions())
    collector.label(collector.item("u", text="\ud83d"), "ann\ud83d", "yes", record=1)

    with pytest.raises(FormatError, match="half of a character"):
        collector.crowd()


def test_later_labels_win_by_time_and_else_by_order() -> None:
    collector = Collector("e", ReadOptions())
    first, second = collector.item("u"), collector.item("v")
    collector.label(first, "ann", "new", record=1, time=2.0)
    collector.label(first, "ann", "old", record=2, time=1.0)
    collector.label(second, "ann", "old", record=3)
    collector.label(second, "ann", "new", record=4)

    labels = collector.crowd().labels

    assert labels.to_frame()["label"].to_list() == ["new", "new"]
    assert labels.intake.messages() == [
        "2 annotations replaced by a later one of the same annotator (first: record 2)."
    ]
