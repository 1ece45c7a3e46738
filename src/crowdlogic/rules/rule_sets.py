"""Ready-made rule sets, as text: what they produce are ordinary rules that anyone could have written.

- bio: an I- tag follows a B- or I- tag of its type, and never begins a sequence.
- bioes: the same for B-, I-, E- and S- tags (or B-, I-, L- and U-), in both directions.
- contrast('but'): in "A but B", the clause B decides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from crowdlogic.data.names import Classes
from crowdlogic.data.tagging import BEGIN, END, INSIDE, SINGLE, is_span_tag_set, parse_tags
from crowdlogic.errors import did_you_mean, name_list
from crowdlogic.rules.places import rule_error
from crowdlogic.rules.syntax import Constant, IncludedSet, quote


def write_rule_set(ready: IncludedSet, classes: Classes | None) -> str:
    """The rules of a ready-made set as text, a rule a line.

    Args:
        ready: Which set, with its arguments and weight.
        classes: The classes of the task; bio and bioes take the types from them when none are named.
    """
    if ready.name not in MAKERS:
        known = ", ".join(MAKERS)
        raise rule_error(
            ready.place,
            f"there is no ready-made rule set {ready.name!r}.{did_you_mean(ready.name, [*MAKERS])} Known: {known}.",
        )
    front, back = ("", " .") if ready.weight is None else (f"{ready.weight!r}: ", "")
    return "".join(f"{front}{rule}{back}\n" for rule in MAKERS[ready.name](ready, classes))


def _bio(ready: IncludedSet, classes: Classes | None) -> Iterable[str]:
    for tags in _types(ready, classes, ("B-", "I-")):
        if INSIDE in tags:
            yield _follows(tags, INSIDE)
            yield f"First(T) -> !{_label('T', tags[INSIDE])}"


def _bioes(ready: IncludedSet, classes: Classes | None) -> Iterable[str]:
    for tags in _types(ready, classes, ("B-", "I-", "E-", "S-")):
        for inner in (INSIDE, END):
            if inner in tags:
                yield _follows(tags, inner)
                yield f"First(T) -> !{_label('T', tags[inner])}"
        for opened in (BEGIN, INSIDE):
            if opened in tags and END in tags:
                onward = _any_label("T", [tags[prefix] for prefix in (INSIDE, END) if prefix in tags])
                yield f"{_label('P', tags[opened])} & Previous(T, P) -> {onward}"
                yield f"Last(T) -> !{_label('T', tags[opened])}"


def _contrast(ready: IncludedSet, _: Classes | None) -> Iterable[str]:
    if len(ready.arguments) != 1:
        raise rule_error(ready.place, "contrast needs one word, such as contrast('but').")
    yield f"Label(S, C) & After(S, {Constant(ready.arguments[0], ready.place)}, B) -> Predicted(B, C)"


MAKERS: dict[str, Callable[[IncludedSet, Classes | None], Iterable[str]]] = {
    "bio": _bio,
    "bioes": _bioes,
    "contrast": _contrast,
}


def _types(ready: IncludedSet, classes: Classes | None, prefixes: Sequence[str]) -> Iterable[dict[int, str]]:
    """For each type, its tag by prefix."""
    if ready.arguments:
        classes = ("O", *(f"{prefix}{kind}" for kind in ready.arguments for prefix in prefixes))
    if classes is None:
        raise rule_error(
            ready.place, f"{ready.name} needs the entity types: write {ready.name}('PER', 'ORG'), or give the labels."
        )
    if not is_span_tag_set(classes):
        raise rule_error(
            ready.place, f"{ready.name} needs span tags such as B-PER and O; the classes are {name_list(classes)}."
        )
    tags = parse_tags(classes)
    wanted = (BEGIN, INSIDE) if len(prefixes) == 2 else (BEGIN, INSIDE, END, SINGLE)
    for kind in range(len(tags.types)):
        yield {
            int(prefix): str(name)
            for name, prefix, its_kind in zip(tags.classes, tags.prefix, tags.kind, strict=True)
            if its_kind == kind and prefix in wanted
        }


def _follows(tags: dict[int, str], inner: int) -> str:
    before = _any_label("P", [tags[prefix] for prefix in (BEGIN, INSIDE) if prefix in tags])
    return f"{_label('T', tags[inner])} & Previous(T, P) -> {before}"


def _any_label(variable: str, tags: Sequence[str]) -> str:
    return " | ".join(_label(variable, tag) for tag in tags)


def _label(variable: str, tag: str) -> str:
    return f"Label({variable}, {quote(tag)})"
