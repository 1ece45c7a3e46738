"""The report's verdicts are those of the table, with mistakes in spans by gold where it is known."""

from __future__ import annotations

import numpy as np
from tests.report.small_crowds import context_of, small_inputs

from crowdlogic.data.simulate import simulate_ner
from crowdlogic.metrics.spans import count_span_errors
from crowdlogic.reporting.inputs import annotator_verdicts, inputs_from_estimate
from crowdlogic.truth.methods import truth_method


def test_verdicts_are_computed_once_for_all_pages() -> None:
    context = context_of(small_inputs())

    assert context.once(annotator_verdicts) is context.once(annotator_verdicts)


def test_mistakes_in_spans_are_counted_by_gold_where_it_is_known() -> None:
    made = simulate_ner(6, items=80, annotators=6)
    estimate = truth_method("dawid-skene").infer(made.labels)

    for corpus, truth in ((made.corpus, made.corpus.gold), (None, estimate.answer)):
        found = annotator_verdicts(context_of(inputs_from_estimate(estimate, made.labels, corpus)))
        expected = count_span_errors(made.labels, np.asarray(truth))
        assert found.mistakes is not None
        assert found.mistakes.ignored.tolist() == expected.ignored.tolist()
