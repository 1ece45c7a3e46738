"""Convert a fit to and from a run directory: a loaded run predicts and explains like the fit.

`to_record` converts the result of a fit to plain data, `load_run` converts it back. Only data that are read from files
are validated; an error raised by the classifier is a bug and is not reported as a damaged run.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from crowdlogic import __version__
from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.annotators.protocol import AnnotatorModel
from crowdlogic.classifiers.protocol import PROGRESS, AbsentClassifier, Architecture, Arrays, Classifier
from crowdlogic.confidence.annotator_verdicts import annotator_table
from crowdlogic.data.blocks import NOTHING, corpus_digest, digest, labels_digest
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import CrowdLogicWarning, FormatError, OptionError, require_kind
from crowdlogic.learning.confidence import PredictionScale, PredictionScales
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.method import LearningMethod, TrainingData, as_architecture, with_named_classifier
from crowdlogic.learning.posterior import Teacher
from crowdlogic.learning.task import Task
from crowdlogic.learning.training import (
    ANNOTATORS,
    NUMBERS,
    PAIR,
    TARGETS,
    VIEWS,
    Epoch,
    EpochCallback,
    HistoryRow,
    strip_prefix,
)
from crowdlogic.registry import ANNOTATOR_MODELS, CLASSIFIERS, PREDICATES
from crowdlogic.rules.packing import check_packing, pack_rules, unpack_rules, used_functions
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.store.checkpoints import RunCheckpoint, claim, lock, release
from crowdlogic.store.checksums import sha256
from crowdlogic.store.estimates import SHARPEST, decode_record
from crowdlogic.store.files import (
    ANNOTATOR_ARRAYS,
    CONFIG,
    RULES,
    VERSION,
    InvalidValueError,
    Status,
    damage_error,
    put_json,
    reading,
    require,
    require_bounded,
    require_distributions,
    require_entry,
    require_floats,
    require_numbers,
    require_shape,
)
from crowdlogic.store.options import decode_options, encode_options, find_difference, find_python_object
from crowdlogic.store.runs import CONFUSION, RunRecord, read_run, write_run

if TYPE_CHECKING:
    from crowdlogic.rules.predicates import Vocabulary


MODEL_ARRAYS = "model."
"""Prefix of the names of the annotator model's own arrays."""

NO_OPTIONS = ("rules", "vocabulary")
"""Fields of a projector that are not options and are stored elsewhere."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Run(Learned):
    """A completed run: the result of the training, and the folder in which it is saved.

    Attributes:
        folder: The folder.
        record: Content of the folder as plain data.
    """

    folder: Path
    record: RunRecord

    @classmethod
    def of(cls, folder: Path, record: RunRecord, learned: Learned) -> Run:
        """Return a run from the result of a training, with the verdicts on the rules that are in its record."""
        held = {one.name: getattr(learned, one.name) for one in fields(learned)}
        return cls(folder=folder, record=record, **held | {"verdicts": learned.audit})

    def __repr__(self) -> str:
        return f"Run({str(self.folder)!r}: {super().__repr__()})"

    @property
    def learned(self) -> Learned:
        """The run itself, for code that accepts either a run or the result of a fit."""
        return self

    def to_sklearn(self) -> Any:
        """Return the student as a fitted scikit-learn pipeline; only for the linear model."""
        from crowdlogic.classifiers.scikit import make_pipeline

        return make_pipeline(self.classifier, self.estimate.classes, sequential=self.task.labels.is_sequential)


def to_record(learned: Learned, config: Mapping[str, Any]) -> RunRecord:
    """Return the result of a fit as plain data."""
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
    options = {
        one.name: encode_options(getattr(projector, one.name))
        for one in fields(projector)
        if one.name not in NO_OPTIONS
    }
    table = annotator_table(task.labels, learned.estimate)
    own = {f"{MODEL_ARRAYS}{name}": array for name, array in epoch.annotators.arrays().items()}
    return RunRecord(
        config={**config, **known, "projector": options, "annotators": encode_options(learned.model)},
        labels=task.labels,
        corpus=task.corpus,
        estimate=learned.estimate,
        views={name: getattr(epoch, name) for name in VIEWS},
        # Arrays that only further epochs would need are left out.
        model={name: a for name, a in learned.classifier.arrays().items() if not name.startswith(PROGRESS)},
        annotator_arrays={CONFUSION: epoch.annotators.confusion, **own},
        annotators=table if task.labels.kind is None else table.with_columns(kind=pl.Series(task.labels.kind)),
        history=tuple(asdict(row) for row in learned.history),
        audit=tuple(asdict(one) for one in learned.audit),
        refit_history=tuple(asdict(row) for row in learned.refit_history),
        rules=None if projector.rules is None else pack_rules(projector.rules, projector.vocabulary),
    )


def confidence_record(learned: Learned) -> dict[str, Any]:
    """Return the calibration of answers and predictions as plain data."""
    calibration = learned.estimate.calibration
    return {
        "answers": None if calibration is None else asdict(calibration),
        "student": asdict(learned.scales.student),
        "teacher": asdict(learned.scales.teacher),
    }


def load_run(folder: str | Path, *, vocabulary: Vocabulary | None = None, classifier: Any = None) -> Run:
    """Load a run, ready to predict and to explain.

    A classifier created in Python is not saved with the run. Without it, answers, verdicts and explanations are still
    available; predictions raise an error that explains how to supply it.

    Args:
        folder: The folder of the run.
        vocabulary: Predicates registered from Python, which a run cannot store, and tables of facts about new items.
            The run's own tables are used for its training items.
        classifier: The classifier's hyper-parameters, if the run cannot store them because part of them was created in
            Python.
    """
    from crowdlogic.rules.audit import RuleVerdict

    require_kind(folder, (str, Path), "load_run", "Pass the folder: load_run('run').")
    home, record = Path(folder), read_run(folder)
    with reading(home):
        _check_limits(record)
        method = require_entry(record.config, "method", Mapping)
        # A classifier that was created in Python is not stored: a placeholder stands for it.
        stored = require_entry(method, "classifier", Mapping)
        require_bounded(stored, "classifier")
        foreign, name = find_python_object(stored), require_entry(stored, "name", str)
        architecture: Architecture | None = None
        if foreign is None and name in CLASSIFIERS:
            architecture = decode_options(CLASSIFIERS.create(name), stored)
        # The rules with their vocabulary and the options of the projection; tables given here are about new items
        rules, words = None, vocabulary
        if record.rules is not None:
            own = None if vocabulary is None else vocabulary.without_tables()
            rules, words = unpack_rules(record.rules, own, where=str(home))
        projection = require_entry(record.config, "projector", Mapping)
        require_bounded({name: value for name, value in projection.items() if name != "transitions"}, "projector")
        projector = decode_options(Projector(rules=rules, vocabulary=words), projection, where="projector.")
        teacher = Teacher(record.labels.classes, projector, corpus=record.corpus, renewed=vocabulary)
        options = require_entry(record.config, "annotators", Mapping)
        model = decode_options(ANNOTATOR_MODELS.create(require_entry(options, "name", str)), options)
        outcome = _read_outcome(record, teacher, model)
        # Without a stored calibration, predictions are not calibrated.
        confidence = require(record.config.get("confidence", {}), Mapping, "confidence")
        scales = {}
        for who in ("student", "teacher"):
            row = confidence.get(who, {})
            scale = scales[who] = decode_record(PredictionScale, row, f"confidence: {who}")
            errors = [one for one in (scale.error_before, scale.error_after) if one is not None]
            if not 0 < scale.sharpness <= SHARPEST or scale.n < 0 or not all(0 <= one <= 1 for one in errors):
                raise InvalidValueError(f"confidence: {who} is {row!r:.80}")
        verdicts = tuple(decode_record(RuleVerdict, row, RULES) for row in record.audit)
    if classifier is not None:
        architecture = as_architecture(classifier)
        other = find_difference(stored, encode_options(architecture))
        if other is not None:
            raise OptionError(f"{home}: was trained with a different classifier: {other}. Pass the same one.")
    student: Classifier = AbsentClassifier(
        str(home), f"holds a {foreign}" if foreign is not None else f"is {name!r}, one"
    )
    if architecture is not None:
        try:
            student = architecture.load(record.model, record.labels.classes)
        except FormatError as problem:
            raise damage_error(home, str(problem).rstrip(".")) from problem
    return Run(
        folder=home,
        record=record,
        estimate=record.estimate,
        classifier=student,
        teacher=teacher,
        model=model,
        task=Task(corpus=record.corpus, labels=record.labels, training_labels=record.labels),
        scales=PredictionScales(**scales),
        verdicts=verdicts,
        **outcome,
    )


def check_record(home: Path, record: RunRecord) -> None:
    """Raise an error unless the histories, outcome and audit of a run are valid; its classifier is not checked."""
    from crowdlogic.rules.audit import RuleVerdict

    with reading(home):
        read_history(record.refit_history)
        history = read_history(record.history)
        outcome = require_entry(record.config, "outcome", Mapping)
        _check_limits(record)
        _require_epoch(require_entry(outcome, "chosen", where="outcome"), history, "chosen")
        for row in record.audit:
            decode_record(RuleVerdict, row, RULES)


def _check_limits(record: RunRecord) -> None:
    """Raise an error if the method has limits whose number of epochs is not an integer, which reports show."""
    method = require_entry(record.config, "method", Mapping)
    if method.get("limits") is not None:
        limits = require_entry(method, "limits", Mapping, where="method")
        require_entry(limits, "epochs", int, where="limits")


def check_annotator_arrays(
    arrays: Mapping[str, NDArray[Any]], model: AnnotatorModel, labels: CrowdLabels, *, where: str
) -> None:
    """Raise an error unless the parameters of annotators have the names and shapes that the model estimates.

    Args:
        arrays: The parameters by name.
        model: The annotator model.
        labels: The labels.
        where: Name of the source of the arrays in error messages.
    """
    uniform = np.full((labels.n_units, labels.n_classes), 1.0 / max(labels.n_classes, 1))
    expected = model.m_step(model.observe(labels), uniform).arrays()
    for name, like in expected.items():
        if name not in arrays:
            raise InvalidValueError(f"{where}: no {name!r} for {model.name} annotators")
        array = arrays[name]
        require_shape(array, np.shape(like), f"{where}: {name}")
        if array.dtype.kind != np.asarray(like).dtype.kind or not np.isfinite(array).all() or (array < 0).any():
            raise InvalidValueError(f"{where}: {name} contains invalid values")
        if np.ndim(like) == 0 and array != like:
            raise InvalidValueError(f"{where}: {name} is {array} where {like} is expected")


def _read_outcome(record: RunRecord, teacher: Teacher, model: AnnotatorModel) -> dict[str, Any]:
    """Return the chosen epoch and the histories as fields of Learned."""
    outcome = require_entry(record.config, "outcome", Mapping)
    history, refit = (read_history(rows) for rows in (record.history, record.refit_history))
    chosen = _require_epoch(require_entry(outcome, "chosen", where="outcome"), history, "chosen")
    averaged_from = outcome.get("averaged_from")
    if averaged_from is not None:
        _require_epoch(averaged_from, refit, "averaged_from")
    numbers = require_numbers(require_entry(outcome, "epoch"), "outcome: epoch", entries=NUMBERS)
    if not 0 <= numbers["k"] <= 1:
        raise InvalidValueError(f"outcome: epoch: k is {numbers['k']!r:.80}; expected a share from 0 to 1")
    views: dict[str, Any] = {name: record.views[name] for name in VIEWS}
    arrays = strip_prefix(record.annotator_arrays, MODEL_ARRAYS)
    check_annotator_arrays(arrays, model, record.labels, where=ANNOTATOR_ARRAYS)
    epoch = Epoch(**numbers, **views, annotators=model.load(arrays), factors=teacher.factors)
    return {
        "epoch": epoch,
        "chosen": chosen,
        "history": history,
        "refit_history": refit,
        "averaged_from": averaged_from,
    }


def _require_epoch(value: Any, history: tuple[HistoryRow, ...], name: str) -> int:
    """Return the number of an epoch in a history, starting at 1."""
    epoch: int = require(value, int, f"outcome: {name}")
    if epoch not in range(1, len(history) + 1):
        raise InvalidValueError(f"outcome: {name} is epoch {epoch}, but the history has only {len(history)} epochs")
    return epoch


def read_history(rows: Any) -> tuple[HistoryRow, ...]:
    """Return the rows of a history from a file."""
    return tuple(decode_record(HistoryRow, row, "a line of the history") for row in rows)


# Train into a run directory: start, save checkpoints, resume and finish.

CHANGEABLE = ("epochs", "patience", "device")
"""Options that may change when a run is resumed."""


def train_run(
    folder: str | Path,
    method: LearningMethod,
    data: TrainingData,
    *,
    resume: bool = False,
    callback: EpochCallback | None = None,
) -> Run:
    """Fit a method and save it as a run directory, with a checkpoint after every epoch.

    A fit that is interrupted or killed leaves a run that can be resumed, with the same result as without interruption.
    A fit that fails during its first epoch leaves nothing.

    Args:
        folder: Folder of the run; it must be new or empty, or with `resume` an existing run.
        method: The method to fit.
        data: The training data.
        resume: Whether to resume an existing run.
        callback: Function called after each epoch.
    """
    home, method = Path(folder), with_named_classifier(method)
    if data.rules is not None:
        check_packing(data.rules, data.vocabulary)
    for notice in describe_unsaved(home, method, data):
        warnings.warn(notice, CrowdLogicWarning, stacklevel=3)
    claim(home, resume=resume)
    config = {
        "crowdlogic": __version__,
        "version": VERSION,
        "status": Status.running,
        "method": encode_options(method),
        "seed": method.limits.seed,
        "inputs": dict(data.inputs),
    }
    model: AnnotatorModel = getattr(method, "annotators", ConfusionMatrices())
    checkpoint = RunCheckpoint(
        home,
        owner_digests(method, data),
        begin=lambda: put_json(home / CONFIG, config),
        check=lambda last, best, note: check_checkpoint(last, best, note, data, model),
    )
    with lock(home):
        try:
            learned = method.learn(data, checkpoint=checkpoint, callback=callback)
            record = to_record(learned, config)
            write_run(home, record)
            checkpoint.second().remove()
            checkpoint.remove()
        except BaseException:  # includes KeyboardInterrupt
            # Note the failure in config.json, or remove the run if it has no completed epoch. The disk may be full; the
            # run is then still marked as running and can be resumed.
            with suppress(OSError):
                release(home)
            raise
    return Run.of(home, record, learned)


def describe_unsaved(home: Path, method: LearningMethod, data: TrainingData) -> Iterator[str]:
    """Yield sentences on parts of a fit that a run cannot store, and how to supply them when loading it."""
    functions = () if data.rules is None or data.vocabulary is None else used_functions(data.rules, data.vocabulary)
    foreign = find_python_object(encode_options(method.classifier))
    is_foreign = foreign is not None or method.classifier.name not in CLASSIFIERS
    given = ["vocabulary=vocabulary"] * bool(functions) + ["classifier=classifier"] * is_foreign
    call = f"crowdlogic.load_run({', '.join([repr(str(home)), *given])})"
    if functions:
        yield (
            f"{home}: {' and '.join(functions)} {'is' if len(functions) == 1 else 'are'} Python code and not saved "
            f"with the run. Pass the same predicates when you load it: {call}. Commands only know predicates of "
            f"installed packages (entry points of the group {PREDICATES.group})."
        )
    if is_foreign:
        yield (
            f"{home}: the classifier {'holds' if foreign else 'is'} a {foreign or type(method.classifier).__name__} "
            f"that was made in Python and is not saved with the run. Pass it when you load the run: {call}."
        )


def check_checkpoint(
    last: Arrays, best: Arrays, note: Mapping[str, Any], data: TrainingData, model: AnnotatorModel
) -> None:
    """Raise an error unless a checkpoint fits this data: all arrays have the right type and shape."""
    history = read_history(require_entry(note, "history", list))
    best_epoch = require_entry(note, "best_epoch", int)
    if best_epoch not in range(1, len(history) + 1):
        raise InvalidValueError(f"the best epoch is {best_epoch}, but the history has only {len(history)} epochs")
    require_numbers(require_entry(note, "best"), "the best epoch", entries=NUMBERS)
    beliefs = (data.corpus.n_units, data.labels.n_classes)
    # Beliefs and targets are distributions over all units.
    for state, names in ((best, VIEWS), (last, ("q_f",))):
        for name in names:
            require_distributions(_require_array(state, name), beliefs, name)
    if TARGETS in last:
        require_distributions(last[TARGETS], beliefs, TARGETS)
    check_annotator_arrays(strip_prefix(best, ANNOTATORS), model, data.labels, where="the checkpoint")
    for name, array in best.items():
        if name.startswith("mean."):
            require_floats(array, _require_array(best, f"classifier.{name.removeprefix('mean.')}").shape, name)
    if "highest" in best:
        require_floats(best["highest"], (len(data.corpus.items),), "highest")
    for state in (last, best):
        if PAIR in state:
            require_floats(state[PAIR], (*beliefs, beliefs[1]), PAIR)
        if "factors" in state:
            require_floats(state["factors"], (-1,), "factors")


def _require_array(arrays: Arrays, name: str) -> NDArray[Any]:
    found: NDArray[Any] = require_entry(arrays, name, np.ndarray, where="the checkpoint")
    return found


def owner_digests(method: LearningMethod, data: TrainingData) -> dict[str, str]:
    """Return a digest of each input of a fit, so that a checkpoint of another fit is rejected."""
    vectors = getattr(method.classifier, "vectors", None)
    tables = {} if data.vocabulary is None else data.vocabulary.tables
    packed = None if data.rules is None else pack_rules(data.rules, data.vocabulary)
    lists = {} if packed is None else {name: sha256(content) for name, content in packed.word_lists.items()}
    facts = [part for name in sorted(tables) for part in (name, *tables[name].arguments, tables[name].truth)]
    return {
        "labels": labels_digest(data.labels),
        "items": corpus_digest(data.corpus),
        "dev items": corpus_digest(data.dev),
        "anchors": digest(*(f"{item}={truth}" for item, truth in (data.anchors or {}).items())),
        "rules": digest(None if data.rules is None else str(data.rules), *facts),
        "word lists": digest(lists),
        "options": digest(_without(encode_options(method), CHANGEABLE)),
        "vectors": digest(vectors.words, vectors.vectors) if isinstance(vectors, WordVectors) else NOTHING,
        "version of crowdlogic": __version__,
    }


def _without(options: Any, names: tuple[str, ...]) -> Any:
    """Return nested options without those of some names."""
    if not isinstance(options, Mapping):
        return options
    return {name: _without(value, names) for name, value in options.items() if name not in names}
