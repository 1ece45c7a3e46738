"""The table of annotators: who they are, the verdict on each with its reason, and the figures that it rests on.

Everything is computed from labels and beliefs, so it means the same for every method; the report shows the same.
"""

from __future__ import annotations

import polars as pl

from crowdlogic.annotators.verdicts.judging import AnnotatorVerdicts, judge_annotators
from crowdlogic.annotators.verdicts.scores import LEVEL
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.frames import as_labels
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import DataError, OptionError, require_kind


def annotator_table(labels: CrowdLabels, estimate: Estimate, *, level: float = LEVEL) -> pl.DataFrame:
    """One row per annotator, in the order of the labels.

    Columns: annotator; verdict, a word for what is wrong with their labels: adversary, spammer, one class, biased,
    careless, drift, too few labels (what each means is in docs/report.md), or ok when nothing is; labels, how many they
    gave; items, how many they saw; reliability, the expected share of right labels, with its credible interval from
    reliability_low to reliability_high; for span tags it is the expected F1 of whole spans, and token_reliability is
    the share of right tokens; expected_accuracy, how often they would be right if classes came as often as the method
    believes, which does not reward labelling easy classes only; informativeness, how far their labels depend on the
    truth: 0 for a spammer, 1 where they determine it; confused_truth and confused_label, what they mix up most (of a
    biased annotator, the bias), and confused_count, the expected number of times; weight, the method's own number for
    them, when it has one; reason, the verdict in a sentence.

    Beliefs of majority vote hold everybody's own vote, so there each label is compared with the votes of the others.

    Args:
        labels: The labels that the estimate was made from, or the frame that holds them.
        estimate: What a method believes; of the outcome of a training, its estimate.
        level: The probability that a credible interval holds the truth.
    """
    if not 0 < level < 1:
        raise OptionError(f"level must lie between 0 and 1, not at {level}.")
    labels, estimate = as_labels(labels, "annotator_table"), getattr(estimate, "estimate", estimate)
    require_kind(estimate, Estimate, "annotator_table", "Write annotator_table(labels, method.infer(labels)).")
    if len(estimate.beliefs) != labels.n_units or len(estimate.annotators) != len(labels.annotators):
        raise DataError("The estimate is not of these labels. Give the labels it was made from.")
    judged = judge_annotators(labels, estimate)
    scores = judged.scores
    table = name_biases(scores.table if level == LEVEL else scores.at_level(level), judged)
    verdict = pl.Series("verdict", judged.words(), pl.String)
    reason = pl.Series("reason", judged.sentences(), pl.String)
    return table.select("annotator", verdict, pl.exclude("annotator"), reason)


def name_biases(table: pl.DataFrame, judged: AnnotatorVerdicts) -> pl.DataFrame:
    """The table with the bias of each biased annotator as what they confuse, so that it names what the reason names."""
    truth, label, count = (table[f"confused_{part}"].to_list() for part in ("truth", "label", "count"))
    statistics = judged.confusion
    for j in range(table.height):
        if (found := judged.bias(j)) is not None:
            truth[j], label[j] = statistics.classes[found[0]], statistics.classes[found[1]]
            count[j] = float(statistics.counts[j, found[0], found[1]])
    return table.with_columns(
        confused_truth=pl.Series(truth, dtype=pl.String),
        confused_label=pl.Series(label, dtype=pl.String),
        confused_count=pl.Series(count, dtype=pl.Float64),
    )
