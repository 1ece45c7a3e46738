from __future__ import annotations

import pytest

from crowdlogic.data.intake.columns import find_roles, normalise_name, require_columns
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.errors import LabelError, OptionError


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("WorkerId", "worker"),
        ("worker_id", "worker"),
        (" Rater-Name ", "rater"),
        ("text_id", "text_id"),
        ("reviewId", "review_id"),
        ("ID", "id"),
    ],
)
def test_column_names_are_compared_without_their_dress(name: str, expected: str) -> None:
    assert normalise_name(name) == expected


def test_the_earlier_alias_wins() -> None:
    assert find_roles(["id", "task", "worker", "label"])["item"] == "task"


def test_a_chosen_column_is_not_taken_twice() -> None:
    assert find_roles(["label", "answer", "item"], {"item": "label"}) == {"item": "label", "label": "answer"}


def test_a_column_that_is_not_there_gets_a_hint() -> None:
    with pytest.raises(LabelError) as caught:
        find_roles(["taks", "worker"], {"item": "task"})

    assert str(caught.value) == "the table: no column 'task' among taks, worker. Did you mean 'taks'?"


def test_an_unknown_role_gets_a_hint() -> None:
    with pytest.raises(OptionError, match=r"columns: unknown role 'itm'\. Did you mean 'item'\?"):
        find_roles(["task"], {"itm": "task"})


def test_all_missing_columns_are_named_at_once_with_what_to_give() -> None:
    with pytest.raises(LabelError) as caught:
        require_columns(
            {}, ("item", "annotator", "label"), ["a", "b"], source=TableSource("t.csv"), purpose="A label table"
        )

    assert str(caught.value) == (
        "t.csv: no column for the item, the annotator and the label among a, b. A label table needs: item, annotator, "
        "label. Rename the columns (item, task, question, example, ...; annotator, worker, rater, user, ...; label, "
        "answer, response, class, ...) or name them: --column item=NAME --column annotator=NAME --column label=NAME (in "
        'Python columns={"item": "NAME", "annotator": "NAME", "label": "NAME"}).'
    )


def test_one_truth_per_item_may_be_called_gold_where_no_column_is_the_label() -> None:
    assert find_roles(["item", "text", "Gold_Label"], gold=True)["label"] == "Gold_Label"
    assert find_roles(["item", "answer", "gold"], gold=True)["label"] == "answer"
    assert "label" not in find_roles(["item", "tokens", "tags", "gold"], gold=True)
    assert "label" not in find_roles(["item", "annotator", "gold"])


def test_a_column_and_its_role_in_the_wrong_order_are_said_to_be() -> None:
    with pytest.raises(OptionError) as caught:
        find_roles(["ticket", "agent", "verdict"], {"ticket": "item"})

    assert str(caught.value) == "columns: the role comes first, then the column. Did you mean item=ticket?"
