"""Result of a fit: answers for the training items, a classifier, its teacher, and the history."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from crowdlogic.annotators.protocol import AnnotatorModel
from crowdlogic.classifiers.protocol import ChainClassifier, Classifier, predict, predict_units
from crowdlogic.confidence.annotator_verdicts import annotator_table
from crowdlogic.data.chain_beliefs import answers
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate, make_estimate
from crowdlogic.data.frames import to_corpus
from crowdlogic.data.wording import pluralise
from crowdlogic.learning.confidence import PredictionScales, fit_scales, state_answers
from crowdlogic.learning.posterior import Teacher
from crowdlogic.learning.task import Task
from crowdlogic.learning.training import Epoch, HistoryRow, TrainingPass, answering
from crowdlogic.numerics.arrays import Ints

if TYPE_CHECKING:
    from crowdlogic.learning.explain import Evidence
    from crowdlogic.rules.audit import RuleVerdict
    from crowdlogic.rules.predicates import Vocabulary


@dataclass(frozen=True, eq=False, kw_only=True)
class Learned:
    """Result of a fit.

    Attributes:
        estimate: The answers for the training items (q_f, calibrated) and the annotators' confusion matrices.
        epoch: The final beliefs: p, q_a, q_b, q_f and the annotators of the chosen epoch, or those of the
            averaged weights.
        chosen: Number of the chosen epoch, starting at 1; with held-out labels, the end of the plateau.
        history: One row for each epoch of the pass that chose the epoch.
        classifier: The trained classifier (student).
        teacher: The rules, which correct predictions.
        model: The annotator model.
        task: The training data.
        refit_history: One row for each epoch of the second pass, with all labels; the scores of the last row are those
            of the answers. Empty without a second pass.
        averaged_from: First epoch of the second pass whose weights are averaged; None if they are not averaged.
        scales: Calibration of predictions on new items.
        verdicts: The verdict on each rule; None if they are computed on demand (`audit`).
    """

    estimate: Estimate
    epoch: Epoch
    chosen: int
    history: tuple[HistoryRow, ...]
    classifier: Classifier
    teacher: Teacher
    model: AnnotatorModel
    task: Task
    refit_history: tuple[HistoryRow, ...] = ()
    averaged_from: int | None = None
    scales: PredictionScales = PredictionScales()
    verdicts: tuple[RuleVerdict, ...] | None = None

    @property
    def final(self) -> HistoryRow:
        """History row of the final epoch."""
        return self.refit_history[-1] if self.refit_history else self.history[self.chosen - 1]

    def predict(
        self, items: Any, *, student: bool = False, calibrated: bool = True, vocabulary: Vocabulary | None = None
    ) -> Beliefs:
        """Return beliefs about new items: the teacher's (eq. 15 with p in place of q_a), or the student's.

        Args:
            items: A Corpus, a frame of items, a list of texts or a list of token lists. Taggers split texts into words
                and punctuation marks.
            student: Whether to use the classifier alone, without the rules.
            calibrated: Whether to return calibrated beliefs.
            vocabulary: Tables of facts about these items, if rules use any.
        """
        corpus = to_corpus(items, sequential=self.task.labels.is_sequential)
        p = predict_units(self.classifier, corpus, n_classes=len(self.estimate.classes))
        beliefs = p if student else self.teacher.renew(vocabulary).predict(corpus, self.classifier, p)
        scale = self.scales.student if student else self.scales.teacher
        return scale.state(beliefs) if calibrated else beliefs

    def answer(self, corpus: Corpus, *, student: bool = False, vocabulary: Vocabulary | None = None) -> Ints:
        """Return answer[i] for new items: the most probable class, or the most probable tagging if tags form chains."""
        if not isinstance(self.classifier, ChainClassifier):
            beliefs = self.predict(corpus, student=student, vocabulary=vocabulary)
            return np.asarray(beliefs.argmax(axis=1), dtype=np.int32)
        alone = student or self.teacher.is_idle
        return answers(
            predict(self.classifier, corpus)
            if alone
            else self.teacher.renew(vocabulary).believe(corpus, self.classifier),
            corpus.offsets,
        )

    def predict_labels(self, items: Any, *, student: bool = False, vocabulary: Vocabulary | None = None) -> list[Any]:
        """Return the class of each new item, or the tags of each sentence; see `predict`."""
        corpus = to_corpus(items, sequential=self.task.labels.is_sequential)
        names = self.estimate.classes
        chosen = [names[k] for k in self.answer(corpus, student=student, vocabulary=vocabulary)]
        if corpus.offsets is None:
            return chosen
        return [chosen[begin:end] for begin, end in pairwise(corpus.offsets)]

    def explain(self, item: Any, *, calibrated: bool = True) -> Evidence:
        """Return the evidence behind the answer for a training item, in bits; it prints as a table."""
        from crowdlogic.learning.explain import explain  # explain imports this module

        return explain(self, item, calibrated=calibrated)

    @cached_property
    def audit(self) -> tuple[RuleVerdict, ...]:
        """The verdict on each rule, from labels that the rule did not influence; see `rule_table`."""
        return judge_teacher(self.teacher, self.task) if self.verdicts is None else self.verdicts

    def rule_table(self) -> pl.DataFrame:
        """Return the verdict on each rule (helps, no effect, contradicts, cannot tell), its reason and figures."""
        from crowdlogic.rules.audit import verdict_table

        return verdict_table(self.audit)

    def annotator_table(self) -> pl.DataFrame:
        """Return the verdict on each annotator (ok, spammer, biased, ...), its figures and its reason."""
        return annotator_table(self.task.labels, self.estimate)

    def to_frame(self) -> pl.DataFrame:
        """Return the answers for the training items as a table; see `Estimate.to_frame`."""
        return self.estimate.to_frame()

    def to_pandas(self) -> Any:
        """Return the answers for the training items as a pandas frame."""
        return self.estimate.to_pandas()

    def history_frame(self) -> pl.DataFrame:
        """Return one row per epoch, second pass last: loss, k, stopping score, and a column for each score."""
        rows = [*self.history, *self.refit_history]
        plain = ("epoch", "loss", "k", "stopping", "change", "objective", "seconds", "kept", "refit")
        scores = list(dict.fromkeys(name for row in rows for name in row.scores))
        columns: dict[str, Any] = {name: [getattr(row, name) for row in rows] for name in plain}
        return pl.DataFrame(columns | {name: [row.scores.get(name) for row in rows] for name in scores})

    def __repr__(self) -> str:
        items, epochs = len(self.estimate.items), len(self.history)
        return f"Learned({self.estimate.method}: {pluralise(items, 'item')}, epoch {self.chosen} of {epochs})"

    def _repr_html_(self) -> str:
        scores = "".join(
            f"<tr><td>{escape(name)}</td><td>{value:.4f}</td></tr>" for name, value in self.final.scores.items()
        )
        return f"<p>{escape(repr(self))}</p>" + (f"<table>{scores}</table>" if scores else "")


def make_learned(
    method: str, training: TrainingPass, epoch: Epoch | None = None, *, is_posterior: bool = False
) -> Learned:
    """Assemble the result of the last pass.

    Args:
        method: Name of the method.
        training: The last pass.
        epoch: The final beliefs, if they differ from the best epoch of the pass.
        is_posterior: Whether q_a is the posterior of classifier and annotators, whose evidence can be calibrated; other
            answers keep their confidence.
    """
    believed = training.outcome if epoch is None else epoch
    chose = training if training.first is None else training.first
    estimate = make_estimate(
        training.task.labels,
        method,
        believed.q_f,
        answer=None if believed.pair is None else answers(believed.targets, training.task.corpus.offsets),
        confusion=believed.annotators.confusion,
        answer_all=True,
        trace=np.array([row.stopping for row in chose.history]),
    )
    scales = fit_scales(training)
    if is_posterior:
        is_chain = isinstance(training.classifier, ChainClassifier)
        counted = training.model.correlation
        estimate = state_answers(estimate, training.task, scales, counted=counted, is_chain=is_chain)
    return Learned(
        estimate=estimate,
        epoch=believed,
        chosen=chose.best_epoch,
        history=tuple(chose.history),
        classifier=answering(training.classifier),
        teacher=training.teacher.reweight(believed.factors),
        model=training.model,
        task=training.task,
        refit_history=() if training.first is None else tuple(training.history),
        averaged_from=training.averaged_from,
        scales=scales,
    )


def judge_teacher(teacher: Teacher, task: Task) -> tuple[RuleVerdict, ...]:
    """Return the verdict on each rule of a teacher at its given weight.

    Known truths of training items are used; gold that only serves for scoring is not.
    """
    rules = teacher.projector.rules
    if rules is None or not rules.statements:
        return ()
    from crowdlogic.learning.rule_verdicts import fit_without_rules, judge_rules

    fit = fit_without_rules(task.labels, task.corpus, gold=task.known if len(task.known) else None)
    given = teacher.with_projector(teacher.projector.reweight(None))
    return judge_rules(given.ground(task.corpus), fit, strength=teacher.projector.strength)
