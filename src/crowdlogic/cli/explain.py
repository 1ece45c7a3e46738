"""`crowdlogic explain`: why an item got its answer, in bits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import typer

from crowdlogic.cli.console import percent, say, show_json, show_table
from crowdlogic.cli.options import JsonOption
from crowdlogic.cli.predict import RunFolder
from crowdlogic.errors import OptionError
from crowdlogic.learning.evidence import BIT, Evidence, RuleEvidence
from crowdlogic.learning.saved_run import load_run
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import safe_log

MOST = 4
"""How many classes a table shows, the most probable ones; --json has all."""

SLIGHT = 5e-3
"""What is below this many bits for every class would show as 0.00 and is left out."""


def command(
    run: RunFolder,
    item: Annotated[str, typer.Argument(metavar="ITEM", help="The name of a training item.")],
    token: Annotated[
        int | None, typer.Option("--token", min=1, help="For a sentence: one token, counted from 1.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say what the classifier, each annotator and each rule contributed to an answer."""
    found = load_run(run).explain(item)
    if token is not None and token > len(found.q_f):
        raise OptionError(f"--token {token}: item {item} has {len(found.q_f)} tokens.")
    units = range(len(found.q_f)) if token is None else [token - 1]
    if json:
        show_json(figures_of(found, units))
        return
    if not units:
        say(f"{item}: has no tokens, so there is nothing to explain.")
    if len(units) > 1:
        _show_tokens(found)
        say("The evidence of one token: --token N.")
        return
    for unit in units:
        _show_unit(found, unit)


def _show_tokens(found: Evidence) -> None:
    """A sentence at a glance: what each source would have said of each token."""
    rows = []
    for i, (word, chosen) in enumerate(zip(found.words, found.answer, strict=True)):
        views = (np.exp2(found.classifier[i]), found.q_a[i], found.q_b[i])
        said = [str(found.classes[int(view.argmax())]) for view in views]
        heard = [str(found.classes[label]) for label in found.crowd.label[found.crowd.unit == i]]
        rows.append((i + 1, word, found.classes[chosen], percent(found.q_f[i, chosen]), " ".join(heard), *said))
    names = ["token", "word", "answer", "confidence", "labels", "classifier", "with the crowd", "with the rules"]
    show_table(f"{found.item} (k {found.k:.2f})", names, rows)


def _show_unit(found: Evidence, i: int) -> None:
    """One unit, source by source."""
    shown = shown_classes(found.q_f[i])
    chosen, rival = (int(k) for k in np.argsort(-found.q_f[i], kind="stable")[:2])
    say(f"{found.item}: {found.words[i] if i < len(found.words) else ''}")
    rows = []
    for line in lines_of(found, i):
        cells = percents(line.value[shown]) if line.is_belief else bits(line.value[shown])
        log = safe_log(line.value) / BIT if line.is_belief else line.value
        rows.append((line.name, *cells, *bits(log[[chosen]] - log[[rival]])))
    columns = ["source", *(str(found.classes[k]) for k in shown)]
    title = (
        f"{found.classes[chosen]}, {percent(found.q_f[i, chosen])}: evidence in bits (one bit more doubles the odds)"
    )
    show_table(title, [*columns, f"{found.classes[chosen]} over {found.classes[rival]}"], rows)
    if found.rules is not None and not found.rules.is_exact:
        say("Rules hang together here: a rule's bits are what is lost without it; the rest is what they share.")


def shown_classes(belief: Floats) -> Ints:
    """The classes that a table shows, in their order."""
    return np.sort(np.argsort(-belief, kind="stable")[:MOST])


@dataclass(frozen=True, eq=False)
class Line:
    """A line of the table: a term in bits, or the beliefs that terms add up to; value[k]."""

    name: str
    value: Floats
    is_belief: bool = False


def lines_of(found: Evidence, i: int) -> Iterator[Line]:
    """The terms of a unit, and what they add up to."""
    yield Line("classifier", found.classifier[i])
    for n in np.flatnonzero(found.crowd.unit == i):
        yield Line(f"{found.crowd.annotator[n]} said {found.classes[int(found.crowd.label[n])]}", found.crowd.term[n])
    yield Line("to make it add up to 1", np.full(len(found.classes), -found.normaliser[i]))
    yield Line("= classifier and crowd", found.q_a[i], is_belief=True)
    if found.rules is not None and (found.rules.from_classifier or not np.array_equal(found.q_a[i], found.q_b[i])):
        yield from _rule_lines(found, found.rules, i)


def _rule_lines(found: Evidence, rules: RuleEvidence, i: int) -> Iterator[Line]:
    if rules.from_classifier:
        yield Line("rules start from the classifier", rules.base[i])
    for text, share in zip(rules.rules, rules.share, strict=True):
        if np.abs(share[i]).max() > SLIGHT:
            yield Line(text, share[i])
    if rules.transitions is not None:
        yield Line("transitions", rules.transitions[i])
    if np.abs(rules.residual[i]).max() > SLIGHT:
        yield Line("the rest", rules.residual[i])
    yield Line("to make it add up to 1", np.full(len(found.classes), -rules.normaliser[i]))
    yield Line("= with the rules", found.q_b[i], is_belief=True)
    yield Line(f"answer: {1 - found.k:.2f} without + {found.k:.2f} with", found.q_f[i], is_belief=True)


def bits(terms: Floats) -> list[str]:
    """Bits with two digits; what is impossible is a dash."""
    return [f"{term:+.2f}" if np.isfinite(term) else "-" for term in terms]


def percents(belief: Floats) -> list[str]:
    """Beliefs in percent."""
    return [percent(p) for p in belief]


def figures_of(found: Evidence, units: Sequence[int]) -> dict[str, Any]:
    """The evidence as one JSON object."""
    return {
        "item": found.item,
        "classes": [str(name) for name in found.classes],
        "k": found.k,
        "exact": found.rules is None or found.rules.is_exact,
        "units": [_unit(found, i) for i in units],
    }


def _unit(found: Evidence, i: int) -> dict[str, Any]:
    chosen = int(found.answer[i])
    said = [
        {
            "annotator": found.crowd.annotator[n],
            "label": str(found.classes[int(found.crowd.label[n])]),
            "bits": found.crowd.term[n].tolist(),
        }
        for n in np.flatnonzero(found.crowd.unit == i)
    ]
    return {
        "word": found.words[i] if i < len(found.words) else None,
        "answer": str(found.classes[chosen]),
        "confidence": float(found.q_f[i, chosen]),
        "classifier": found.classifier[i].tolist(),
        "annotators": said,
        "normaliser": float(found.normaliser[i]),
        "q_a": found.q_a[i].tolist(),
        "rules": _rules(found, i),
        "q_b": found.q_b[i].tolist(),
        "q_f": found.q_f[i].tolist(),
    }


def _rules(found: Evidence, i: int) -> dict[str, Any] | None:
    rules = found.rules
    if rules is None:
        return None
    return {
        "from_classifier": rules.from_classifier,
        "base": rules.base[i].tolist(),
        "rules": [
            {"rule": text, "bits": share[i].tolist()} for text, share in zip(rules.rules, rules.share, strict=True)
        ],
        "transitions": None if rules.transitions is None else rules.transitions[i].tolist(),
        "residual": rules.residual[i].tolist(),
        "normaliser": float(rules.normaliser[i]),
    }
