"""A fit as a run directory holds it, and back: a run that is loaded predicts and explains as the fit did.

`to_record` turns what a fit left into plain data, `load_run` makes it of plain data again. Only what is read is
validated there: an error out of the classifier is a bug, and says nothing about the run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdlogic.annotators.protocol import AnnotatorModel, Annotators
from crowdlogic.classifiers.protocol import PROGRESS, AbsentClassifier, Architecture, Classifier
from crowdlogic.confidence.annotator_verdicts import annotator_table
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import FormatError, OptionError, require_kind
from crowdlogic.learning.confidence import PredictionScale, PredictionScales
from crowdlogic.learning.epoch import NUMBERS, VIEWS, Epoch, HistoryRow
from crowdlogic.learning.evidence import Evidence
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.method import as_architecture
from crowdlogic.learning.posterior import Teacher
from crowdlogic.learning.task import Task
from crowdlogic.registry import ANNOTATOR_MODELS, CLASSIFIERS
from crowdlogic.rules.audit import RuleVerdict, verdict_table
from crowdlogic.rules.packing import pack_rules, unpack_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.store.estimates import SHARPEST, decode_record
from crowdlogic.store.files import (
    ANNOTATOR_ARRAYS,
    RULES,
    InvalidValueError,
    NamedArrays,
    damage_error,
    reading,
    require,
    require_bounded,
    require_entry,
    require_numbers,
    require_shape,
)
from crowdlogic.store.options import decode_options, encode_options, find_difference, find_python_object
from crowdlogic.store.runs import CONFUSION, RunRecord, read_run

MODEL_ARRAYS = "model."
"""How the names of the annotator model's own arrays begin."""

NO_OPTIONS = ("rules", "vocabulary")
"""What of a projector is not an option: it is stored elsewhere."""


@dataclass(frozen=True, eq=False, repr=False)
class Run:
    """A run that is done.

    Attributes:
        folder: Where it is.
        record: What it holds, as plain data.
        learned: The same as the fit left it.
    """

    folder: Path
    record: RunRecord
    learned: Learned

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}: {self.learned!r})"

    @property
    def estimate(self) -> Estimate:
        """The answers for the training items."""
        return self.learned.estimate

    @property
    def classifier(self) -> Classifier:
        """The student."""
        return self.learned.classifier

    @property
    def teacher(self) -> Teacher:
        """The rules, for predictions."""
        return self.learned.teacher

    @property
    def history(self) -> tuple[HistoryRow, ...]:
        """All epochs of the pass that chose their number."""
        return self.learned.history

    @property
    def audit(self) -> tuple[RuleVerdict, ...]:
        """The verdict on each rule, as the training stored it; `rule_table` has it as a table."""
        return self.learned.audit

    def rule_table(self) -> pl.DataFrame:
        """A verdict on each rule (helps, no effect, contradicts the labels, cannot tell), why, and its figures."""
        return verdict_table(self.audit)

    def annotator_table(self) -> pl.DataFrame:
        """Return a verdict on each annotator (ok, spammer, biased, ...), its figures, and why."""
        return self.learned.annotator_table()

    def to_frame(self) -> pl.DataFrame:
        """Return the clean labels: item, label, confidence and a column p_<class> per class."""
        return self.learned.to_frame()

    def predict(
        self, items: Any, *, student: bool = False, calibrated: bool = True, vocabulary: Vocabulary | None = None
    ) -> Beliefs:
        """Beliefs on new items (a Corpus, a frame, texts or token lists): the teacher's, or the student's alone.

        Args:
            items: The items.
            student: Whether the classifier answers alone, without the rules.
            calibrated: Whether beliefs are put on a scale that one can act on; else they are as learnt.
            vocabulary: Tables of facts about these items, for rules that use some.
        """
        return self.learned.predict(items, student=student, calibrated=calibrated, vocabulary=vocabulary)

    def predict_labels(self, items: Any, *, student: bool = False, vocabulary: Vocabulary | None = None) -> list[Any]:
        """Return the class of each new item, or the tags of each sentence; see `predict`."""
        return self.learned.predict_labels(items, student=student, vocabulary=vocabulary)

    def to_sklearn(self) -> Any:
        """Return the student as a fitted scikit-learn pipeline, in memory; for the linear model."""
        from crowdlogic.classifiers.scikit import make_pipeline

        return make_pipeline(self.classifier, self.estimate.classes, sequential=self.learned.task.labels.is_sequential)

    def explain(self, item: Any, *, calibrated: bool = True) -> Evidence:
        """Why a training item got its answer, in bits: printed, a table; `calibrated=False`: as it was learnt."""
        return self.learned.explain(item, calibrated=calibrated)


def to_record(learned: Learned, config: Mapping[str, Any]) -> RunRecord:
    """What a fit left, as plain data."""
    epoch, task, projector = learned.epoch, learned.task, learned.teacher.projector
    outcome = {
        "chosen": learned.chosen,
        "averaged_from": learned.averaged_from,
        "epoch": {name: getattr(epoch, name) for name in NUMBERS},
    }
    known = {
        "classes": list(task.labels.classes),
        "sequential": task.labels.is_sequential,
        "outcome": outcome,
        "confidence": confidence_record(learned),
    }
    arrays = learned.classifier.arrays()
    return RunRecord(
        config={
            **config,
            **known,
            "projector": _projector_options(projector),
            "annotators": encode_options(learned.model),
        },
        labels=task.labels,
        corpus=task.corpus,
        estimate=learned.estimate,
        views={name: getattr(epoch, name) for name in VIEWS},
        # what only further epochs would need stays behind
        model={name: array for name, array in arrays.items() if not name.startswith(PROGRESS)},
        annotator_arrays={CONFUSION: epoch.annotators.confusion, **_add_prefix(epoch.annotators.arrays())},
        annotators=_annotators(task.labels, learned.estimate),
        history=tuple(asdict(row) for row in learned.history),
        audit=tuple(asdict(one) for one in learned.audit),
        refit_history=tuple(asdict(row) for row in learned.refit_history),
        rules=None if projector.rules is None else pack_rules(projector.rules, projector.vocabulary),
    )


def confidence_record(learned: Learned) -> dict[str, Any]:
    """What the confidence of answers and predictions rests on, as plain data."""
    calibration = learned.estimate.calibration
    return {
        "answers": None if calibration is None else asdict(calibration),
        "student": asdict(learned.scales.student),
        "teacher": asdict(learned.scales.teacher),
    }


def _add_prefix(arrays: NamedArrays) -> NamedArrays:
    """Return the arrays of the annotator model, as annotators.safetensors names them beside the confusion matrices."""
    return {f"{MODEL_ARRAYS}{name}": array for name, array in arrays.items()}


def _annotators(labels: CrowdLabels, estimate: Estimate) -> pl.DataFrame:
    """One row per annotator, with its kind where that is known."""
    table = annotator_table(labels, estimate)
    return table if labels.kind is None else table.with_columns(kind=pl.Series(labels.kind))


def _projector_options(projector: Projector) -> dict[str, Any]:
    names = [one.name for one in fields(projector) if one.name not in NO_OPTIONS]
    return {name: encode_options(getattr(projector, name)) for name in names}


def load_run(folder: str | Path, *, vocabulary: Vocabulary | None = None, classifier: Any = None) -> Run:
    """Read a run, ready to predict and to explain.

    A classifier that Python made is not in the run. Without it, answers, verdicts and explanations are there all the
    same; who asks it for a prediction is told to bring it.

    Args:
        folder: The run.
        vocabulary: Predicates that the run cannot carry because they were registered from Python, and tables of facts
            about new items; the run's own tables hold for its training items.
        classifier: The classifier's options, where the run cannot carry them because Python made a part of them.
    """
    require_kind(folder, (str, Path), "load_run", "Name the folder: load_run('run').")
    home, record = Path(folder), read_run(folder)
    with reading(home):
        architecture = _read_architecture(home, record)
        teacher = _read_teacher(home, record, vocabulary)
        model = _read_annotator_model(record)
        outcome = _read_outcome(record, teacher, model)
        scales = _read_scales(record)
        verdicts = tuple(decode_record(RuleVerdict, row, RULES) for row in record.audit)
    if classifier is not None:
        architecture = _take_classifier(home, record, classifier)
    learned = Learned(
        estimate=record.estimate,
        classifier=_load_classifier(home, architecture, record),
        teacher=teacher,
        model=model,
        task=Task(corpus=record.corpus, labels=record.labels, training_labels=record.labels),
        scales=scales,
        verdicts=verdicts,
        **outcome,
    )
    return Run(home, record, learned)


def check_record(home: Path, record: RunRecord) -> None:
    """Raise unless a run's histories, outcome and audit are such as a fit leaves; its classifier is not looked at."""
    with reading(home):
        read_history(record.refit_history)
        history = read_history(record.history)
        outcome = require_entry(record.config, "outcome", Mapping)
        _require_epoch(require_entry(outcome, "chosen", where="outcome"), history, "chosen")
        for row in record.audit:
            decode_record(RuleVerdict, row, RULES)


def _load_classifier(home: Path, architecture: Architecture | AbsentClassifier, record: RunRecord) -> Classifier:
    """Return the classifier with the run's arrays, which it refuses if they are not its own."""
    if isinstance(architecture, AbsentClassifier):
        return architecture
    try:
        return architecture.load(record.model, record.labels.classes)
    except FormatError as problem:
        raise damage_error(home, str(problem).rstrip(".")) from problem


def _read_architecture(home: Path, record: RunRecord) -> Architecture | AbsentClassifier:
    """Return the classifier's options, as config.json has them; a stand-in for one that Python made."""
    options = require_entry(require_entry(record.config, "method", Mapping), "classifier", Mapping)
    require_bounded(options, "classifier")
    foreign, name = find_python_object(options), require_entry(options, "name", str)
    if foreign is not None or name not in CLASSIFIERS:
        what = f"holds a {foreign}" if foreign is not None else f"is {name!r}, one"
        return AbsentClassifier(str(home), what)
    made: Architecture = decode_options(CLASSIFIERS.create(name), options)
    return made


def _take_classifier(home: Path, record: RunRecord, classifier: Any) -> Architecture:
    """Return the classifier that somebody brings, if it is the one that the run was trained with."""
    made = as_architecture(classifier)
    stored = require_entry(require_entry(record.config, "method", Mapping), "classifier", Mapping)
    other = find_difference(stored, encode_options(made))
    if other is not None:
        raise OptionError(f"{home}: was trained with another classifier: {other}. Load it with the same one.")
    return made


def _read_teacher(home: Path, record: RunRecord, vocabulary: Vocabulary | None) -> Teacher:
    """Return the rules with their vocabulary, and how a projection obeys them."""
    rules, words = None, vocabulary
    if record.rules is not None:
        own = None if vocabulary is None else vocabulary.without_tables()  # a table given here is about new items
        rules, words = unpack_rules(record.rules, own, where=str(home))
    options = require_entry(record.config, "projector", Mapping)
    require_bounded({name: value for name, value in options.items() if name != "transitions"}, "projector")
    projector = decode_options(Projector(rules=rules, vocabulary=words), options, where="projector.")
    return Teacher(record.labels.classes, projector, corpus=record.corpus, renewed=vocabulary)


def _read_annotator_model(record: RunRecord) -> AnnotatorModel:
    """Return the annotator model's options, as config.json has them."""
    options = require_entry(record.config, "annotators", Mapping)
    made: AnnotatorModel = decode_options(ANNOTATOR_MODELS.create(require_entry(options, "name", str)), options)
    return made


def _read_annotators(record: RunRecord, model: AnnotatorModel) -> Annotators:
    """Return the annotators' parameters."""
    arrays = {
        name.removeprefix(MODEL_ARRAYS): array
        for name, array in record.annotator_arrays.items()
        if name.startswith(MODEL_ARRAYS)
    }
    check_annotator_arrays(arrays, model, record.labels, where=ANNOTATOR_ARRAYS)
    return model.load(arrays)


def check_annotator_arrays(
    arrays: Mapping[str, NDArray[Any]], model: AnnotatorModel, labels: CrowdLabels, *, where: str
) -> None:
    """Raise unless parameters of annotators are such as the model estimates from these labels.

    Args:
        arrays: The parameters by name.
        model: The annotator model.
        labels: The labels.
        where: What to call the place that the arrays are from.
    """
    uniform = np.full((labels.n_units, labels.n_classes), 1.0 / max(labels.n_classes, 1))
    expected = model.m_step(model.observe(labels), uniform).arrays()
    for name, like in expected.items():
        if name not in arrays:
            raise InvalidValueError(f"{where}: no {name!r} for {model.name} annotators")
        array = arrays[name]
        require_shape(array, np.shape(like), f"{where}: {name}")
        if array.dtype.kind != np.asarray(like).dtype.kind or not np.isfinite(array).all() or (array < 0).any():
            raise InvalidValueError(f"{where}: {name} holds what does not belong there")
        if np.ndim(like) == 0 and array != like:
            raise InvalidValueError(f"{where}: {name} is {array} where {like} is expected")


def _read_outcome(record: RunRecord, teacher: Teacher, model: AnnotatorModel) -> dict[str, Any]:
    """Return the chosen epoch and the histories, by the names that Learned has for them."""
    outcome = require_entry(record.config, "outcome", Mapping)
    history, refit = (read_history(rows) for rows in (record.history, record.refit_history))
    chosen = _require_epoch(require_entry(outcome, "chosen", where="outcome"), history, "chosen")
    averaged_from = outcome.get("averaged_from")
    if averaged_from is not None:
        _require_epoch(averaged_from, refit, "averaged_from")
    numbers = require_numbers(require_entry(outcome, "epoch"), "outcome: epoch", entries=NUMBERS)
    if not 0 <= numbers["k"] <= 1:
        raise InvalidValueError(f"outcome: epoch: k is {numbers['k']!r:.80} where a share from 0 to 1 is expected")
    views: dict[str, Any] = {name: record.views[name] for name in VIEWS}
    epoch = Epoch(**numbers, **views, annotators=_read_annotators(record, model), factors=teacher.factors)
    return {
        "epoch": epoch,
        "chosen": chosen,
        "history": history,
        "refit_history": refit,
        "averaged_from": averaged_from,
    }


def _read_scales(record: RunRecord) -> PredictionScales:
    """Return the scales of predictions; a run that keeps none states what it learnt."""
    confidence = require(record.config.get("confidence", {}), Mapping, "confidence")
    return PredictionScales(
        student=_read_scale(confidence.get("student", {}), "student"),
        teacher=_read_scale(confidence.get("teacher", {}), "teacher"),
    )


def _read_scale(row: Any, name: str) -> PredictionScale:
    scale = decode_record(PredictionScale, row, f"confidence: {name}")
    errors = [one for one in (scale.error_before, scale.error_after) if one is not None]
    if not 0 < scale.sharpness <= SHARPEST or scale.n < 0 or not all(0 <= one <= 1 for one in errors):
        raise InvalidValueError(f"confidence: {name} is {row!r:.80}")
    return scale


def _require_epoch(value: Any, history: tuple[HistoryRow, ...], name: str) -> int:
    """Return an epoch of a history, counted from 1."""
    epoch: int = require(value, int, f"outcome: {name}")
    if epoch not in range(1, len(history) + 1):
        raise InvalidValueError(f"outcome: {name} is epoch {epoch} of {len(history)}")
    return epoch


def read_history(rows: Any) -> tuple[HistoryRow, ...]:
    """Return the lines of a history, as a file has them."""
    return tuple(decode_record(HistoryRow, row, "a line of the history") for row in rows)
