"""Concatenation of several tables of labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.intake.contract import Duplicates, Intake
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Names, find, sort_classes
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import LabelError, OptionError, parse_choice
from crowdlogic.numerics.arrays import Bools, Ints


def concatenate(parts: Sequence[CrowdLabels], *, duplicates: Duplicates | str = Duplicates.error) -> CrowdLabels:
    """Concatenate tables of labels. Items and annotators with equal names are the same."""
    if not parts:
        raise OptionError("concatenate: no tables given.")
    if len({part.is_sequential for part in parts}) > 1:
        raise LabelError("Labels of documents and of sequences cannot be concatenated. Give tables of one kind.")
    items = _merge_names([part.items for part in parts])
    annotators = _merge_names([part.annotators for part in parts])
    same = all(part.classes == parts[0].classes for part in parts)
    classes = parts[0].classes if same else sort_classes(name for part in parts for name in part.classes)
    places = [_locate_labels(part, items, annotators) for part in parts]
    policy = parse_choice(Duplicates, duplicates, "duplicates")
    label = [part.with_classes(classes).label for part in parts]
    kept, repeats = _deduplicate(places, label, (items, annotators), policy)
    offsets = _common_offsets(parts, items) if parts[0].is_sequential else None
    unit = [item if offsets is None else offsets[item] + within for item, within, _ in places]
    stays = np.concatenate(kept)
    kinds = {name: kind for part in parts if part.kind for name, kind in zip(part.annotators, part.kind, strict=True)}
    return CrowdLabels(
        unit=np.concatenate(unit)[stays],
        annotator=np.concatenate([annotator for _, _, annotator in places])[stays],
        label=np.concatenate(label)[stays],
        items=items,
        annotators=annotators,
        classes=classes,
        offsets=offsets,
        weight=_join_column([part.weight for part in parts], stays, parts, fill=1.0),
        time=_join_column([part.time for part in parts], stays, parts, fill=np.nan),
        kind=tuple(kinds.get(name, "") for name in annotators) if kinds else None,
        negated=_join_column([part.negated for part in parts], stays, parts, fill=False),
        intake=sum((part.intake for part in parts), Intake(duplicates=repeats, policy=policy)),
    )


def _deduplicate(
    places: Sequence[tuple[Ints, Ints, Ints]], label: Sequence[Ints], names: tuple[Names, Names], policy: Duplicates
) -> tuple[list[Bools], int]:
    """Return which labels of each table are kept, and the number of repeated (item, annotator) pairs."""
    keys = [item.astype(np.int64) * len(names[1]) + annotator for item, _, annotator in places]
    order = range(len(keys) - 1, -1, -1) if policy is Duplicates.last else range(len(keys))
    seen, again = np.empty(0, dtype=np.int64), [np.zeros(len(key), dtype=bool) for key in keys]
    # Tables are processed in order of priority; pairs of an earlier table are repeated in a later one.
    for part in order:
        again[part] = np.isin(keys[part], seen)
        seen = np.union1d(seen, keys[part])
    count = sum(int(np.count_nonzero(repeated)) for repeated in again)
    if count and policy is Duplicates.error:
        _refuse_contradictions(places, label, again, names)
    return [np.ones(len(r), dtype=bool) if policy is Duplicates.keep else ~r for r in again], count


def _refuse_contradictions(
    places: Sequence[tuple[Ints, Ints, Ints]], label: Sequence[Ints], again: Sequence[Bools], names: tuple[Names, Names]
) -> None:
    """Raise an error if an annotator gave different labels to a unit in two tables."""
    item, within, annotator = (np.concatenate(column) for column in zip(*places, strict=True))
    unit = ["item", "within", "annotator"]
    rows = pl.DataFrame({"item": item, "within": within, "annotator": annotator, "label": np.concatenate(label)})
    repeated = pl.Series(np.concatenate(again))
    before = rows.filter(~repeated).unique(unit, keep="first", maintain_order=True)
    found = rows.filter(repeated).join(before, on=unit, how="left", maintain_order="left", suffix="_before")
    differs = found.filter(found["label"].ne_missing(found["label_before"]))
    if len(differs):
        who, what = names[1][int(differs["annotator"][0])], names[0][int(differs["item"][0])]
        raise LabelError(
            f"Annotator {who!r} labels item {what!r} in two tables, with different labels ({len(differs):,} of "
            f"{pluralise(len(found), 'repeated label')}). "
            f'Choose which labels count: duplicates="first", "last" or "keep".'
        )


def _merge_names(columns: Sequence[Names]) -> Names:
    if len({column.dtype for column in columns}) > 1:
        raise LabelError("Names are numbers in one table, but text in another. Give both as text.")
    return pl.concat(list(columns)).unique(maintain_order=True)


def _locate_labels(part: CrowdLabels, items: Names, annotators: Names) -> tuple[Ints, Ints, Ints]:
    """Return for each label its item and annotator in the joint names, and the unit's position in the item."""
    item = part.item_of_unit[part.unit]
    within = part.unit - (item if part.offsets is None else part.offsets[item])
    return find(part.items, items)[item], within, find(part.annotators, annotators)[part.annotator]


def _common_offsets(parts: Sequence[CrowdLabels], items: Names) -> Ints:
    lengths = np.full(len(items), -1, dtype=np.int64)
    for part in parts:
        where, length = find(part.items, items), np.diff(part.offsets if part.offsets is not None else [0])
        clash = (lengths[where] >= 0) & (lengths[where] != length)
        if clash.any():
            s = int(np.flatnonzero(clash)[0])
            raise LabelError(
                f"Sequence {part.items[s]!r} has {pluralise(int(lengths[where][s]), 'unit')} in one table and "
                f"{length[s]} in another. "
                f"Sequences with the same name must have the same units."
            )
        lengths[where] = length
    return np.concatenate([[0], np.cumsum(lengths)])


def _join_column(columns: Sequence[Any], stays: Bools, parts: Sequence[CrowdLabels], *, fill: float | bool) -> Any:
    """Concatenate a column of the kept labels, filled for tables without it; None if no table has it."""
    if all(column is None for column in columns):
        return None
    filled = [np.full(p.n_labels, fill) if c is None else c for c, p in zip(columns, parts, strict=True)]
    return np.concatenate(filled)[stays]
