"""Encoding of names: text, integers or booleans become codes 0, 1, 2, ... and can be looked up.

Items and annotators are encoded in order of first appearance. Classes are sorted, unless their order is given. If all
classes are integers as text, they are sorted as numbers, so that "10" comes after "2".
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import polars as pl

from crowdlogic.numerics.arrays import Ints
from crowdlogic.numerics.first_appearance import code_hashes

Names: TypeAlias = pl.Series
ClassName: TypeAlias = str | int | bool
Classes: TypeAlias = tuple[ClassName, ...]

MANY = 20_000
"""Minimum number of texts for which hashes are compared instead of texts."""


def encode(values: Names) -> tuple[Ints, Names]:
    """Encode names in order of first appearance; return codes (-1 if missing) and the distinct names."""
    if values.null_count() == 0 and len(values) >= MANY and values.dtype == pl.String:
        return _encode_hashes(values)
    names = values.drop_nulls().unique(maintain_order=True)
    return find(values, names), names


def _encode_hashes(values: Names) -> tuple[Ints, Names]:
    """Encode many texts, none of which is missing, by their 64-bit hashes.

    Two texts with the same hash are extremely unlikely (1 in 10 million for 2 million names), but possible. They are
    detected by a second hash, and the texts themselves are then compared.
    """
    codes, rows = code_hashes(values.hash(seed=0).to_numpy())
    second_hash = values.hash(seed=1).to_numpy()
    if (second_hash[rows][codes] != second_hash).any():
        names = values.unique(maintain_order=True)
        return find(values, names), names
    return codes, values.gather(rows)


def find(values: Names, names: Names) -> Ints:
    """Return the position of each value among the (distinct) names; -1 if it is missing or unknown."""
    if values.dtype != names.dtype:
        values, names = as_text(values), as_text(names)
    if len(values) == len(names) and values.null_count() == 0 and values.equals(names):
        return np.arange(len(names), dtype=np.int32)  # equal columns; a join would need ten times the memory
    table = pl.DataFrame({"name": names, "code": np.arange(len(names), dtype=np.int32)})
    joined = values.to_frame("name").join(table, on="name", how="left", maintain_order="left")
    return joined["code"].fill_null(-1).to_numpy().astype(np.int32, copy=False)


def as_text(values: Names) -> Names:
    """Return names as text, as printed by Python (True, not true)."""
    if values.dtype == pl.Boolean:
        return values.replace_strict([True, False], ["True", "False"], return_dtype=pl.String)
    return values.cast(pl.String)


def sort_classes(names: Iterable[ClassName]) -> Classes:
    """Sort classes in the order used for ties and for the columns of all outputs."""
    distinct = list(dict.fromkeys(names))
    if all(isinstance(name, str) and is_whole_number(name) for name in distinct):
        return tuple(sorted(distinct, key=lambda name: (int(name), str(name))))
    return tuple(sorted(distinct, key=lambda name: (isinstance(name, str), name)))


def sort_naturally(names: Names) -> list[Any]:
    """Sort names naturally: "r2" before "r10"."""
    return sorted(
        names.to_list(),
        key=lambda name: [
            (part.isdigit(), int(part) if part.isdigit() else 0, part) for part in re.split(r"([0-9]+)", str(name))
        ],
    )


def class_column(classes: Classes) -> Names:
    """Return the classes as a column that can be indexed by codes."""
    return pl.Series("label", list(classes)) if classes else pl.Series("label", [], dtype=pl.String)


def merge_classes(classes: Classes, more: Iterable[ClassName]) -> Classes:
    """Merge classes: the result is sorted if they were sorted; otherwise new ones are appended."""
    known = {str(name) for name in classes}
    fresh = [name for name in dict.fromkeys(more) if str(name) not in known]
    if not fresh:
        return classes
    return sort_classes([*classes, *fresh]) if classes == sort_classes(classes) else (*classes, *sort_classes(fresh))


def is_whole_number(text: str) -> bool:
    """Return whether the text is an integer in ASCII digits."""
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit()
