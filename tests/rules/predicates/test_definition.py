from __future__ import annotations

from crowdlogic.rules.predicates.definition import FIXED, Kind, Role, derived_predicate, truth_predicate


def length(texts: list[str], *_: str) -> list[float]:
    return [min(len(text) / 10, 1.0) for text in texts]


def test_a_predicate_of_a_text_takes_the_text_and_its_constants() -> None:
    plain, fixed = truth_predicate("Long", length), truth_predicate("Long", length, constants=2)

    assert plain.kinds == (Kind.readable,)
    assert fixed.kinds == (Kind.readable, Kind.word, Kind.word)
    assert (plain.name, plain.role, plain.function) == ("Long", Role.function, length)


def test_a_predicate_that_derives_a_text_ends_with_it() -> None:
    def last(texts: list[str]) -> list[str | None]:
        return [text.split()[-1] if text else None for text in texts]

    assert derived_predicate("LastWord", last).kinds == (Kind.readable, Kind.text)
    assert derived_predicate("LastWord", last, constants=1).kinds == (Kind.readable, Kind.word, Kind.text)


def test_places_that_take_a_quoted_constant() -> None:
    assert set(FIXED) == {Kind.word, Kind.pattern, Kind.file}
