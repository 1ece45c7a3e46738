"""The evidence of a run as a report shows it: for the answer against its rival, in bits.

Learning explains, report shows, and neither knows the other (see docs/decisions/0006): here the one is handed over to
the other. Axes: i unit, k class.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from crowdlogic.classifiers.absent import AbsentClassifier
from crowdlogic.learning.evidence import BIT, RuleEvidence
from crowdlogic.learning.evidence import Evidence as Learnt
from crowdlogic.learning.explain import explain_all, is_explicable
from crowdlogic.learning.learned import Learned
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import safe_log
from crowdlogic.report.evidence import AnswerEvidence, EvidenceSource, EvidenceTerm, Explain, explain_nothing

NEGLIGIBLE = 5e-3
"""A remainder below this many bits would show as 0.00 and is left out."""


def report_explainer(learned: Learned) -> Explain:
    """Why units of a run got their answers; nothing where its method cannot say."""
    if not is_explicable(learned):
        return explain_nothing
    corpus = learned.task.corpus
    item_of_unit = learned.task.labels.item_of_unit
    begins = np.arange(corpus.n_units) if corpus.offsets is None else corpus.offsets[item_of_unit]

    def explain(units: Ints) -> Sequence[AnswerEvidence | None]:
        items, at = np.unique(item_of_unit[units], return_inverse=True)
        found = explain_all(learned, corpus.items.gather(items).to_list())
        places = (units - begins[units]).tolist()
        return [unit_evidence(found[n], i, is_token=corpus.is_sequential) for n, i in zip(at, places, strict=True)]

    return explain


def absent_notice(learned: Learned) -> tuple[str, ...]:
    """That rules are not told apart, where they ask a classifier that the run does not hold."""
    classifier = learned.classifier
    if not isinstance(classifier, AbsentClassifier) or learned.teacher.is_idle:
        return ()
    return (classifier.notice,) if learned.teacher.ground(learned.task.corpus).texts else ()


def unit_evidence(found: Learnt, i: int, *, is_token: bool) -> AnswerEvidence | None:
    """The evidence of unit i of an item, for its answer against the class that comes next.

    None with a single class, or where the truth was given.
    """
    if len(found.classes) < 2 or found.known[i]:
        return None
    answer, rival = (int(k) for k in np.argsort(-found.q_f[i], kind="stable")[:2])

    def odds(term: Floats) -> float | None:
        """What a term says for the answer against its rival; None where that is no finite number."""
        pair = term[[answer, rival]]
        return round(float(pair[0] - pair[1]), 6) if np.isfinite(pair).all() else None

    crowd = [EvidenceTerm(source=EvidenceSource.classifier, bits=odds(found.classifier[i]))]
    for n in np.flatnonzero(found.crowd.unit == i):
        said = str(found.classes[int(found.crowd.label[n])])
        who, bits = str(found.crowd.annotator[n]), odds(found.crowd.term[n])
        crowd.append(EvidenceTerm(source=EvidenceSource.annotator, name=who, said=said, bits=bits))
    if found.neighbours is not None:
        crowd.append(EvidenceTerm(source=EvidenceSource.neighbours, bits=odds(found.neighbours[i])))
    rules = found.rules
    return AnswerEvidence(
        token=i if is_token else None,
        answer=str(found.classes[answer]),
        rival=str(found.classes[rival]),
        crowd=tuple(crowd),
        crowd_bits=odds(safe_log(found.q_a[i]) / BIT),
        rules=()
        if rules is None
        else tuple(EvidenceTerm(source=kind, name=name, bits=odds(term)) for kind, name, term in _rules(rules, i)),
        from_classifier=rules is not None and rules.from_classifier,
        rules_bits=None if rules is None else odds(safe_log(found.q_b[i]) / BIT),
        k=found.k,
        bits=odds(safe_log(found.q_f[i]) / BIT),
        is_exact=rules is None or rules.is_exact,
    )


def _rules(rules: RuleEvidence, i: int) -> Iterator[tuple[EvidenceSource, str, Floats]]:
    """What the rules say of unit i, those that say anything."""
    for text, share in zip(rules.rules, rules.share, strict=True):
        if np.abs(share[i]).max() > 0:
            yield EvidenceSource.rule, text, share[i]
    if rules.transitions is not None:
        yield EvidenceSource.transitions, "", rules.transitions[i]
    if np.abs(rules.residual[i]).max() > NEGLIGIBLE:
        yield EvidenceSource.rest, "", rules.residual[i]
