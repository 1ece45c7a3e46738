"""Confidence of whole spans of named entities: the scale is fitted on half of the sentences, scored on the other half.

Both halves are from one data set; the transfer to other data sets was not measured.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from scipy.optimize import minimize

from benchmarks.figures_file import Figures, FiguresFile
from crowdlogic.classifiers.crf import CRF
from crowdlogic.data.character_spans import scale_odds, span_confidence
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.tagging import Spans, parse_tags, tags_to_spans
from crowdlogic.extensions.paper.benchmarks import Benchmark, load_benchmark
from crowdlogic.extensions.paper.jobs import Job
from crowdlogic.extensions.paper.results import format_table
from crowdlogic.extensions.paper.runs import fit_row, set_up
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.metrics.calibration import binned_gap
from crowdlogic.numerics.arrays import Bools, Floats
from crowdlogic.truth.bsc_seq import BSCSeq
from crowdlogic.truth.dependence import state_confidence

EPOCHS = 4
"""Number of epochs; a short training is enough to measure the confidence in spans."""


def right_spans(spans: Spans, data: Benchmark) -> Bools:
    """Return right[e], whether boundaries and type of a span equal those of a gold span."""
    gold = tags_to_spans(np.asarray(data.corpus.gold), np.asarray(data.labels.offsets), parse_tags(data.labels.classes))
    known = set(zip(gold.start.tolist(), gold.end.tolist(), gold.kind.tolist(), strict=True))
    found = zip(spans.start.tolist(), spans.end.tolist(), spans.kind.tolist(), strict=True)
    return np.array([one in known for one in found])


def fit_scale(raw: Floats, right: Bools) -> tuple[float, float]:
    """Return shift and slope with the lowest log loss."""

    def cost(scale: Floats) -> float:
        p = scale_odds(raw, shift=float(scale[0]), slope=float(np.exp(scale[1])))
        return float(-np.mean(np.log(np.where(right, p, 1 - p))))

    shift, log_slope = minimize(cost, [0.0, 0.0], method="Nelder-Mead").x
    return float(shift), float(np.exp(log_slope))


def span_error(confidence: Floats, right: Bools) -> float:
    """Return the calibration error of spans, in percent."""
    return 100 * binned_gap(confidence, right.astype(np.float64))


def measure_spans(own_posterior: Estimate, stated: Estimate, data: Benchmark) -> Figures:
    """Return the calibration errors of the method's own posterior and of the calibrated confidence, and the scale."""
    spans, own = span_confidence(own_posterior)
    _, raw = span_confidence(replace(stated, calibration=None))
    right = right_spans(spans, data)
    even = (np.searchsorted(np.asarray(data.labels.offsets), spans.start, side="right") - 1) % 2 == 0
    errors = []
    for train, test in ((even, ~even), (~even, even)):
        shift, slope = fit_scale(raw[train], right[train])
        errors.append(span_error(scale_odds(raw[test], shift=shift, slope=slope), right[test]))
    shift, slope = fit_scale(raw, right)
    return {
        "spans": len(spans),
        "right (%)": round(100 * float(right.mean()), 1),
        "error of the method's own posterior": round(span_error(own, right), 1),
        "error, halves": [round(one, 1) for one in errors],
        "shift": round(shift, 2),
        "slope": round(slope, 2),
    }


def aggregated(data: Benchmark) -> Figures:
    """Measure the spans of `aggregate`, whose default for spans is bsc-seq."""
    found = BSCSeq().infer(data.labels, data.corpus)
    return measure_spans(found, state_confidence(data.labels, found), data)


def trained(data: Benchmark) -> Figures:
    """Measure the spans of a short training with the linear chain."""
    method = LogicLNCL(classifier=CRF(), limits=TrainingLimits(epochs=EPOCHS, held_out=None))
    learned = method.fit(data.corpus, data.labels)
    own = replace(learned.estimate, beliefs=learned.epoch.q_f, calibration=None)
    return measure_spans(own, learned.estimate, data)


def tagged(data: Benchmark) -> Figures:
    """Measure the spans of the tagger of `--preset ner`, with its epoch chosen by dev gold."""
    job = Job("ner", "logic-lncl-bilstm-crf", 0)
    learned = fit_row(set_up(job), job.seed)
    own = replace(learned.estimate, beliefs=learned.epoch.q_f, calibration=None)
    return measure_spans(own, learned.estimate, data)


def spans_table(file: FiguresFile) -> str:
    """Return a table with a row for aggregate and two rows for train."""
    data = load_benchmark("ner_conll_mturk")
    rows = []
    measures = {"aggregate (bsc-seq)": aggregated, "train (crf, four epochs)": trained, "train (preset ner)": tagged}
    for name, measure in measures.items():
        row = file.get(f"spans {name}", partial(measure, data))
        own, halves = row["error of the method's own posterior"], row["error, halves"]
        rows.append(
            (name, f"{row['spans']:,}", row["right (%)"], own, f"{halves[0]} / {halves[1]}", row["shift"], row["slope"])
        )
    columns = [
        "",
        "spans",
        "right (%)",
        "error (%), posterior of the model",
        "error (%), calibrated, each half",
        "shift",
        "slope",
    ]
    return format_table(columns, rows)
