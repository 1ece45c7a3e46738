"""What looks like a mistake in a table of labels but may be none: it is said, and the labels are taken as they are."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from crowdlogic.data.intake.columns import normalise_name
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.data.wording import pluralise

MISSING_WORDS = frozenset({"na", "n/a", "nan", "null", "none", "nil", "-", "?"})
"""Words that often mean "no label"; as labels they are classes like any other, but are pointed out."""

SEPARATORS = ("|", ";", ",", "/", "+", "&")
"""Signs with which several labels are written into one cell."""

CONFIDENCES = frozenset({"confidence", "certainty", "sureness", "probability", "prob", "score"})
"""Names of columns that say how sure an annotator was."""


def odd_classes(classes: Iterable[object]) -> tuple[str, ...]:
    """Notices about class names that look like mistakes."""
    names = [name for name in classes if isinstance(name, str)]
    absent = [
        f"The label {name!r} is taken as a class; if it means that there is no label, leave the cell empty."
        for name in names
        if name.strip().casefold() in MISSING_WORDS
    ]
    return (*_alike_classes(names), *absent, *_joined_classes(names))


def single_class(classes: Sequence[object]) -> tuple[str, ...]:
    """A notice where all labels are one class."""
    if len(classes) != 1:
        return ()
    return (f"All labels are {classes[0]!r}: there is nothing to decide. Is the column of the label the right one?",)


def _alike_classes(names: Sequence[str]) -> list[str]:
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(" ".join(name.split()).casefold(), []).append(name)
    return [
        f"The classes {', '.join(map(repr, group))} differ only in case or spaces; are they one class?"
        for group in folded.values()
        if len(group) > 1
    ]


def _joined_classes(names: Sequence[str]) -> list[str]:
    """A notice where classes are made of other classes, such as toxic|insult beside toxic and insult."""
    for separator in SEPARATORS:
        parts = {name: {part.strip() for part in name.split(separator)} - {""} for name in names}
        joined = [name for name in names if len(parts[name]) > 1 and _is_known(name, parts)]
        if joined:
            return [
                f"{pluralise(len(joined), 'class', 'classes')} of {len(names):,} join others with {separator!r}, such "
                f"as {joined[0]!r}. Several labels at once are not supported: each combination counts as a class of "
                f"its own. Ask one question per label instead, with yes or no as labels, in a table of its own."
            ]
    return []


def _is_known(name: str, parts: dict[str, set[str]]) -> bool:
    """Whether all parts of a class are classes, or parts of other classes, too."""
    others: set[str] = set().union(*(found for other, found in parts.items() if other != name))
    return parts[name] <= others


def unused_confidence(header: Iterable[str], used: Collection[str], source: TableSource) -> tuple[str, ...]:
    """A notice about columns that look like confidences and are not used."""
    unused = [name for name in header if name not in used and normalise_name(name) in CONFIDENCES]
    as_weight = source.advise("--column weight={0}", 'columns={{"weight": "{0}"}}')
    return tuple(
        f"The column {name!r} is not used: every label counts the same. If it says how much a label should count, name "
        f"it: {as_weight.format(name)}."
        for name in unused
    )


def empty_labels(missing: int, source: TableSource) -> tuple[str, ...]:
    """A notice about empty cells, which were left out as no labels and may be answers."""
    if not missing:
        return ()
    name_it = source.advise("--empty-label NAME", 'empty_label="NAME"')
    return (f"If an empty cell is an answer, such as none of these, name its class: {name_it}.",)
