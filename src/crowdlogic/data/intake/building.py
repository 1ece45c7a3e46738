"""The one place where names become codes and the input contract is applied to labels of single items."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.intake.cells import code_labels, drop_blank_names, parse_kinds, parse_times, parse_weights
from crowdlogic.data.intake.contract import Duplicates, Intake, TableSource, row_error
from crowdlogic.data.intake.duplicates import deduplicate
from crowdlogic.data.intake.odd_labels import empty_labels, odd_classes
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Names, as_text, encode
from crowdlogic.errors import LabelError
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.first_appearance import LARGE


def build_labels(
    table: pl.DataFrame,
    source: TableSource,
    *,
    classes: Sequence[Any] | None = None,
    duplicates: Duplicates | str = Duplicates.error,
) -> CrowdLabels:
    """CrowdLabels from a long table: item, annotator, label and, when known, negated, weight, time and kind.

    Items and annotators all of whose labels are missing stay in the table, without labels.
    """
    policy = Duplicates.parse(duplicates)
    with ThreadPoolExecutor(2 if len(table) >= LARGE else 1) as pool:  # coding waits for memory, not for Python
        coded_items = pool.submit(encode_names, table["item"], "item", source)
        coded_people = pool.submit(encode_names, table["annotator"], "annotator", source)
        coded_labels = pool.submit(code_labels, table["label"], source, classes)
    (item, items), (annotator, annotators) = coded_items.result(), coded_people.result()
    label, names = coded_labels.result()
    given = np.flatnonzero(label >= 0) if (label < 0).any() else None
    if given is not None:
        item, annotator, label = item[given], annotator[given], label[given]
    negated = parse_negated(table, source, given)
    rows, repeats = deduplicate(
        item,
        annotator,
        label=lambda: label if negated is None else label + len(names) * negated,
        place=given,
        names=(items, annotators),
        policy=policy,
        source=source,
    )
    weight, time = parse_weights_and_times(table, source, rows if given is None else given[rows])
    missing = 0 if given is None else len(table) - len(given)
    return CrowdLabels(
        unit=item[rows],
        annotator=annotator[rows],
        label=label[rows],
        items=items,
        annotators=annotators,
        classes=names,
        weight=weight,
        time=time,
        kind=annotator_kinds(table, annotators, source),
        negated=None if negated is None else negated[rows],
        intake=Intake(
            rows=len(table),
            missing=missing,
            duplicates=repeats,
            policy=policy,
            notices=(*empty_labels(missing, source), *odd_classes(names)),
        ),
    )


def encode_names(names: Names, what: str, source: TableSource) -> tuple[Ints, Names]:
    """Codes for items or annotators, every one of which must have a name."""
    if names.dtype.is_nested() or names.dtype == pl.Object:
        raise LabelError(f"{source.name}: the {what} column holds {names.dtype}. Give each {what} one name.")
    if not (names.dtype in (pl.String, pl.Boolean) or names.dtype.is_integer()):
        names = names.cast(pl.String, strict=False)
    codes, found = drop_blank_names(*encode(names))
    absent = np.flatnonzero(codes < 0)
    if len(absent):
        raise row_error(source, absent, f"no {what} is named", f"Fill in the {what}, or remove the row.")
    return codes, found


def parse_negated(table: pl.DataFrame, source: TableSource, given: Ints | None) -> Bools | None:
    """negated[n] of the rows with a label, where the table has it: whether a label says "not this class"."""
    if "negated" not in table.columns:
        return None
    said = as_text(table["negated"]).str.strip_chars().str.to_lowercase().fill_null("")
    wrong = (~said.is_in(["true", "false", "1", "0", ""])).arg_true().to_numpy()
    if len(wrong):
        remedy = "Write true for a label that says which class it is not, else false."
        raise row_error(source, wrong, f"negated is {table['negated'][int(wrong[0])]!r}", remedy)
    negated = said.is_in(["true", "1"]).to_numpy()
    return negated if given is None else negated[given]


def parse_weights_and_times(
    table: pl.DataFrame, source: TableSource, rows: Ints
) -> tuple[Floats | None, Floats | None]:
    """The weights and times of the rows that are taken, where the table has them."""
    weight = parse_weights(table["weight"], source, rows) if "weight" in table.columns else None
    time = parse_times(table["time"], source)[rows] if "time" in table.columns else None
    return weight, time


def annotator_kinds(table: pl.DataFrame, annotators: Names, source: TableSource) -> tuple[str, ...] | None:
    """kind[j], where the table has it."""
    return parse_kinds(table["kind"], table["annotator"], annotators, source) if "kind" in table.columns else None
