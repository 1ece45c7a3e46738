"""Which question of an export is read: the one that was chosen, or the only one there is."""

from __future__ import annotations

from collections.abc import Mapping

from crowdlogic.errors import FormatError, name_list


def split_question(question: str | None) -> tuple[str | None, str | None]:
    """The question and, for `topic=sports`, the one answer that is asked for."""
    if question is None:
        return None, None
    name, equals, answer = question.partition("=")
    return (name, answer) if equals and answer else (question, None)


def require_question(found: Mapping[str, str], chosen: str | None, name: str) -> str:
    """The question to read: the one that was chosen, or the only one there is.

    Args:
        found: Question -> what kind of question it is, for all that can be read.
        chosen: The user's choice.
        name: What messages call the file.
    """
    listed = name_list(f"{question} ({kind})" for question, kind in found.items())
    if chosen is not None:
        if chosen not in found:
            raise FormatError(f"{name}: no question is called {chosen!r}. There are {listed or 'none'}.")
        return chosen
    if not found:
        raise FormatError(f"{name}: no question that can be read: choices, marked spans, ratings or comparisons.")
    if len(found) > 1:
        raise FormatError(f"{name}: several questions: {listed}. Choose one with --question.")
    return next(iter(found))
