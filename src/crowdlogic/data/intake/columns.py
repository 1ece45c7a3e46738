"""Roles of columns: which columns of a table contain the items, the annotators and the labels.

Columns are recognised by common names (`ALIASES`), unless the user names them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from crowdlogic.data.intake.contract import TableSource
from crowdlogic.errors import LabelError, OptionError, did_you_mean, name_list

TEXT_IDS = ("text_id", "content_id", "review_id", "comment_id", "body_id", "message_id")
"""Column names for the identifier of a text, not the text itself."""

ANSWER_IDS = ("answer_id", "response_id")
"""Column names for the identifier of an answer that is judged, not a label."""

ALIASES: dict[str, tuple[str, ...]] = {
    "item": (
        "item", "task", "question", "example", "instance", "object", "document", "doc", "unit", *TEXT_IDS, *ANSWER_IDS,
        "id", "sentence", "sent", "row", "ticket", "case", "record",
    ),
    "annotator": (
        "annotator", "worker", "rater", "user", "coder", "judge", "labeler", "labeller", "reviewer", "performer",
        "source", "lf", "agent", "grader", "evaluator", "model",
    ),
    "label": (
        "label", "answer", "response", "class", "category", "vote", "judgment", "judgement", "annotation", "value",
        "rating", "verdict", "decision",
    ),
    "tags": ("tags", "labels", "ner_tags", "pos_tags"),
    "tokens": ("tokens", "words"),
    "text": ("text", "content", "review", "comment", "body", "message"),
    "negated": ("negated",),
    "weight": ("weight", "label_weight"),
    "time": ("time", "timestamp", "created_at", "submitted_at", "datetime", "date"),
    "kind": ("kind", "annotator_kind", "annotator_type"),
}  # fmt: skip
"""Column names of each role, in order of preference. Case, spaces, hyphens and a final _id or _name do not matter, so
WorkerId and worker_id are both recognised as worker."""

GOLD_NAMES = ("gold", "gold_label", "truth", "true_label", "ground_truth")
"""Further names of the label column in tables with one true label per item."""


SCORE_NAMES = ("score", "grade")
"""Further names of the label column in tables with annotators."""


def normalise_name(name: str) -> str:
    """Normalise a column name: lower case, words joined by underscores, without a final id or name."""
    split = "".join(f"_{c}" if c.isupper() and i and name[i - 1].islower() else c for i, c in enumerate(name.strip()))
    joined = "_".join(split.lower().replace("-", " ").replace("_", " ").split())
    for tail in ("_id", "_name"):
        if joined.endswith(tail) and joined not in (*TEXT_IDS, *ANSWER_IDS):
            joined = joined.removesuffix(tail)
    return joined


def find_roles(
    header: Sequence[str], chosen: Mapping[str, str] | None = None, *, where: str = "the table", gold: bool = False
) -> dict[str, str]:
    """Return role -> column: the columns chosen by the user, and columns recognised by name.

    Args:
        header: Names of the columns.
        chosen: role -> column, for columns whose names are not recognised.
        where: Name of the table in messages.
        gold: Whether the table has one answer per item, so that a column such as `truth` can be the label.
    """
    roles = dict(chosen or {})
    for role, column in roles.items():
        refuse_reversed(role, column, header)
        if role not in ALIASES:
            raise OptionError(
                f"columns: unknown role {role!r}.{did_you_mean(role, list(ALIASES))} Roles are "
                f"{name_list(ALIASES, most=20)}."
            )
        if column not in header:
            raise LabelError(
                f"{where}: no column {column!r} among {name_list(header)}.{did_you_mean(column, list(header))}"
            )
    taken = set(roles.values())
    by_name = {normalise_name(column): column for column in reversed(header) if column not in taken}
    for role, aliases in ALIASES.items():
        for alias in aliases:
            if role not in roles and alias in by_name and by_name[alias] not in taken:
                roles[role] = by_name[alias]
                taken.add(by_name[alias])
    if "annotator" in roles and not {"label", "tags"} & set(roles):
        scores = [by_name[name] for name in SCORE_NAMES if by_name.get(name, "") not in {"", *taken}]
        roles |= {"label": scores[0]} if scores else {}
    named = [by_name[name] for name in GOLD_NAMES if gold and by_name.get(name, "") not in {"", *taken}]
    return roles if not named or {"label", "tags"} & set(roles) else {**roles, "label": named[0]}


UNNAMED_ANNOTATOR = "annotator"
"""Name of the annotator in tables without a column for the annotator."""


def add_unnamed_annotator(table: pl.DataFrame, columns: Mapping[str, str] | None = None) -> pl.DataFrame:
    """Add a constant column for the annotator to a table that has none, if it has one label per item."""
    roles = find_roles(table.columns, columns, where="the table")
    if "annotator" in roles or "item" not in roles or not {"label", "tags"} & set(roles):
        return table
    if table[roles["item"]].is_duplicated().any():
        return table
    return table.with_columns(pl.lit(UNNAMED_ANNOTATOR).alias(UNNAMED_ANNOTATOR))


def refuse_reversed(role: str, column: str, header: Sequence[str]) -> None:
    """Raise an error if the role and the column were swapped."""
    if role not in ALIASES and role in header and column in ALIASES:
        raise OptionError(f"columns: the role comes first, then the column. Did you mean {column}={role}?")


def require_columns(
    roles: Mapping[str, str], needed: Sequence[str], header: Sequence[str], *, source: TableSource, purpose: str
) -> None:
    """Raise an error about missing columns, with advice on how to name them."""
    missing = [role for role in needed if role not in roles]
    if not missing:
        return
    what = " and the ".join([", the ".join(missing[:-1]), missing[-1]] if len(missing) > 1 else missing)
    options = " ".join(f"--column {role}=NAME" for role in missing)
    pairs = ", ".join(f'"{role}": "NAME"' for role in missing)
    argument = f"columns={{{pairs}}}"
    if source.in_memory and "annotator" in needed:  # only from_frame has an argument for the columns
        argument = f"from_frame(table, {argument})"
    rename, name = ("column", "it") if len(missing) == 1 else ("columns", "them")
    wide = ""
    others = len(header) - len(set(roles.values()))
    if {"annotator", "label"} <= set(missing) and "item" in roles and others > 1:
        wide = f" Read a table with one column per annotator with {source.advise('--wide', 'from_wide')}."
    known = "; ".join(f"{', '.join(ALIASES[role][:4])}, ..." for role in missing)
    raise LabelError(
        f"{source.name}: no column for the {what} among {name_list(header)}. {purpose} needs: {', '.join(needed)}. "
        f"Rename the {rename} ({known}) or name {name}: {source.advise(options, argument)}."
        f"{wide}"
    )
