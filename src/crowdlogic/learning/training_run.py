"""Train into a run directory: start, save checkpoints, resume and finish."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdlogic import __version__
from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.annotators.protocol import AnnotatorModel
from crowdlogic.classifiers.protocol import Arrays
from crowdlogic.data.blocks import NOTHING, corpus_digest, digest, labels_digest
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import CrowdLogicWarning
from crowdlogic.learning.epoch import NUMBERS, VIEWS, EpochCallback
from crowdlogic.learning.method import LearningMethod, TrainingData, with_named_classifier
from crowdlogic.learning.saved_run import Run, check_annotator_arrays, read_history, to_record
from crowdlogic.learning.training import ANNOTATORS, PAIR, TARGETS
from crowdlogic.registry import CLASSIFIERS, PREDICATES
from crowdlogic.rules.packing import check_packing, pack_rules, used_functions
from crowdlogic.store.checkpoints import RunCheckpoint, claim, lock, release
from crowdlogic.store.files import (
    CONFIG,
    VERSION,
    InvalidValueError,
    Status,
    put_json,
    require_distributions,
    require_entry,
    require_floats,
    require_numbers,
    sha256,
)
from crowdlogic.store.options import encode_options, find_python_object
from crowdlogic.store.runs import write_run

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
    config = _config(method, data)
    checkpoint = RunCheckpoint(
        home,
        owner_digests(method, data),
        begin=lambda: put_json(home / CONFIG, config),
        check=lambda last, best, note: check_checkpoint(last, best, note, data, annotator_model(method)),
    )
    with lock(home), _release_on_failure(home):
        learned = method.learn(data, checkpoint=checkpoint, callback=callback)
        record = to_record(learned, config)
        write_run(home, record)
        checkpoint.second().remove()
        checkpoint.remove()
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


def _config(method: LearningMethod, data: TrainingData) -> dict[str, Any]:
    """Return the config of a run before it is fitted."""
    return {
        "crowdlogic": __version__,
        "version": VERSION,
        "status": Status.running,
        "method": encode_options(method),
        "seed": method.limits.seed,
        "inputs": dict(data.inputs),
    }


def check_checkpoint(
    last: Arrays, best: Arrays, note: Mapping[str, Any], data: TrainingData, model: AnnotatorModel
) -> None:
    """Raise an error unless a checkpoint fits this data: all arrays have the right type and shape."""
    history = read_history(require_entry(note, "history", list))
    best_epoch = require_entry(note, "best_epoch", int)
    if best_epoch not in range(1, len(history) + 1):
        raise InvalidValueError(f"the best epoch is {best_epoch}, but the history has {len(history)}")
    require_numbers(require_entry(note, "best"), "the best epoch", entries=NUMBERS)
    beliefs = (data.corpus.n_units, data.labels.n_classes)
    _check_beliefs(last, best, beliefs)
    arrays = {name.removeprefix(ANNOTATORS): best[name] for name in best if name.startswith(ANNOTATORS)}
    check_annotator_arrays(arrays, model, data.labels, where="the checkpoint")
    for name, array in best.items():
        if name.startswith("mean."):
            require_floats(array, _require_array(best, f"classifier.{name.removeprefix('mean.')}").shape, name)
    if "highest" in best:
        require_floats(best["highest"], (len(data.corpus.items),), "highest")
    for state in (last, best):
        if "factors" in state:
            require_floats(state["factors"], (-1,), "factors")


def _check_beliefs(last: Arrays, best: Arrays, shape: tuple[int, int]) -> None:
    """Raise an error unless beliefs and targets are distributions over all units, and pairs have the right shape."""
    for name in VIEWS:
        require_distributions(_require_array(best, name), shape, name)
    require_distributions(_require_array(last, "q_f"), shape, "q_f")
    if TARGETS in last:
        require_distributions(last[TARGETS], shape, TARGETS)
    for state in (last, best):
        if PAIR in state:
            require_floats(state[PAIR], (*shape, shape[1]), PAIR)


def annotator_model(method: LearningMethod) -> AnnotatorModel:
    """Return the annotator model of a method."""
    model: AnnotatorModel = getattr(method, "annotators", ConfusionMatrices())
    return model


def _require_array(arrays: Arrays, name: str) -> NDArray[Any]:
    found: NDArray[Any] = require_entry(arrays, name, np.ndarray, where="the checkpoint")
    return found


@contextmanager
def _release_on_failure(home: Path) -> Iterator[None]:
    """If a fit fails or is interrupted, note it in config.json, or remove the run if it has no completed epoch."""
    try:
        yield
    except BaseException:  # includes KeyboardInterrupt
        with suppress(OSError):  # the disk may be full; the run is then still marked as running and can be resumed
            release(home)
        raise


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
