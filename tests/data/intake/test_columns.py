from __future__ import annotations

import pytest

from crowdlogic.data.intake.columns import find_roles, normalise_name
from crowdlogic.errors import LabelError, OptionError


@pytest.mark.parametrize(
    ("name", "expected"),
    [("WorkerId", "worker"), ("worker_id", "worker"), (" Rater-Name ", "rater"), ("text_id", "text_id"), ("ID", "id")],
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
