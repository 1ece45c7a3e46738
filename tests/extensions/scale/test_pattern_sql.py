from __future__ import annotations

import sqlite3

import pytest

from crowdlogic.errors import OptionError
from crowdlogic.extensions.scale.patterns import (
    LongColumns,
    group_long_sql,
    group_wide_sql,
    join_sql,
    quote_name,
    quote_table,
    quote_text,
)

ROWS = [(1, "good", "bad"), (2, "good", "bad"), (3, None, "bad"), (4, "good", "good"), (5, None, "bad")]


def warehouse() -> sqlite3.Connection:
    connection = sqlite3.connect(":memory:")
    connection.execute('CREATE TABLE verdicts (item INTEGER, "judge ""a""" TEXT, b TEXT)')
    connection.executemany("INSERT INTO verdicts VALUES (?, ?, ?)", ROWS)
    connection.execute("CREATE TABLE labels (item INTEGER, who TEXT, said TEXT)")
    long = [(item, who, said) for item, a, b in ROWS for who, said in (("it's a", a), ("b", b)) if said]
    connection.executemany("INSERT INTO labels VALUES (?, ?, ?)", long)
    return connection


def test_a_wide_table_is_grouped_with_missing_labels_as_a_value_of_their_own() -> None:
    sql = group_wide_sql(quote_table("verdicts"), ['judge "a"', "b"])

    found = warehouse().execute(sql).fetchall()

    assert found == [(None, "bad", 2), ("good", "bad", 2), ("good", "good", 1)]


def test_a_long_table_has_the_same_patterns() -> None:
    columns = LongColumns(item="item", annotator="who", label="said")

    found = warehouse().execute(group_long_sql("labels", columns, ["it's a", "b"])).fetchall()

    assert found == [(None, "bad", 2, 0), ("good", "bad", 2, 0), ("good", "good", 1, 0)]


def test_items_that_an_annotator_labelled_differently_are_counted() -> None:
    connection = warehouse()
    connection.execute("INSERT INTO labels VALUES (4, 'b', 'bad')")
    columns = LongColumns(item="item", annotator="who", label="said")

    found = connection.execute(group_long_sql("labels", columns, ["it's a", "b"])).fetchall()

    assert [row[-2:] for row in found] == [(2, 0), (3, 1)]


def test_answers_are_joined_back_to_rows_with_missing_labels_too() -> None:
    connection = warehouse()
    connection.execute(
        'CREATE TABLE answers AS SELECT "judge ""a""", b, min(item) AS first FROM verdicts GROUP BY 1, 2'
    )

    sql = join_sql("verdicts", "answers", annotators=['judge "a"', "b"], kept={"item": "item"}, added=["first"])

    assert sorted(connection.execute(sql).fetchall()) == [(1, 1), (2, 1), (3, 3), (4, 4), (5, 3)]


def test_names_and_texts_are_never_sql() -> None:
    assert quote_name('a"; DROP TABLE x; --') == '"a""; DROP TABLE x; --"'
    assert quote_name("a`b", "`") == "`a``b`"
    assert quote_table("analytics.verdicts") == '"analytics"."verdicts"'
    assert quote_text("it's") == "'it''s'"
    with pytest.raises(OptionError, match="is not a valid column name"):
        quote_name("a\0b")
