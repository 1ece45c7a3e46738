"""A fit kept as a run, and a run made into what the fit left: it predicts and explains as it did then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from crowdlogic.classifiers.protocol import Architecture, Classifier, predict_texts
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.errors import OptionError
from crowdlogic.learning.configuring import architecture_named, configured, of_python, plain_options
from crowdlogic.learning.course import Epoch, Row
from crowdlogic.learning.evidence import Evidence, explain
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.task import Task
from crowdlogic.learning.teacher import Teacher
from crowdlogic.rules.audit import RuleAudit, audit
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.runs.carried import carried_rules, carry_rules
from crowdlogic.runs.damage import needed, numbers, undamaged
from crowdlogic.runs.files import MODEL
from crowdlogic.runs.kept import Kept, read_run


@dataclass(frozen=True, eq=False)
class Run:
    """A run that is done.

    Attributes:
        folder: Where it lies.
        kept: What it keeps, as plain data.
        learned: The same as what the fit left.
    """

    folder: Path
    kept: Kept
    learned: Learned

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
    def history(self) -> tuple[Row, ...]:
        """All epochs of the pass that chose their number."""
        return self.learned.history

    def predict(self, corpus: Corpus, *, student: bool = False) -> Beliefs:
        """Beliefs on new items: the teacher's, or the student's alone."""
        return self.learned.predict(corpus, student=student)

    def explain(self, item: Any) -> Evidence:
        """Why a training item got its answer."""
        return explain(self.learned, item)


def kept_of(learned: Learned, config: Mapping[str, Any]) -> Kept:
    """What a fit left, as plain data."""
    epoch, task = learned.epoch, learned.task
    numbers = {one.name: getattr(epoch, one.name) for one in fields(epoch) if one.type == "float"}
    outcome = {"chosen": learned.chosen, "since": learned.since, "epoch": numbers}
    known = {"classes": list(task.labels.classes), "sequential": task.labels.is_sequential, "outcome": outcome}
    return Kept(
        {**config, **known, "teacher": _projector_options(learned.teacher.projector)},
        task.labels,
        task.corpus,
        learned.estimate,
        {"p": epoch.p, "q_a": epoch.q_a, "q_b": epoch.q_b, "q_f": epoch.q_f},
        learned.classifier.arrays(),
        tuple(asdict(row) for row in learned.history),
        audited(learned),
        tuple(asdict(row) for row in learned.again),
    )


NO_OPTIONS = ("rules", "vocabulary")
"""What of a projector is no option: it is kept elsewhere."""


def _projector_options(projector: Projector) -> dict[str, Any]:
    names = [one.name for one in fields(projector) if one.name not in NO_OPTIONS]
    return {name: plain_options(getattr(projector, name)) for name in names}


def carried(folder: Path, rules: RuleSet | None, vocabulary: Vocabulary | None) -> dict[str, Any] | None:
    """The rules, written into the run; None without any."""
    return None if rules is None else carry_rules(folder, rules, vocabulary or Vocabulary())


def audited(learned: Learned) -> tuple[RuleAudit, ...]:
    """What each rule does to the crowd's beliefs, alone."""
    teacher, epoch = learned.teacher, learned.epoch
    if teacher.projector.rules is None:
        return ()
    return audit(
        teacher.projector,
        epoch.q_a,
        teacher.grounded(learned.task.corpus),
        predict=lambda texts: predict_texts(learned.classifier, texts),
        classifier=epoch.p,
        gold=learned.task.corpus.gold,
    )


def load_run(
    folder: str | Path, *, vocabulary: Vocabulary | None = None, classifier: Architecture | None = None
) -> Run:
    """Read a run, ready to predict and to explain.

    Args:
        folder: The run.
        vocabulary: Predicates that the run cannot carry because they were registered from Python, or tables of facts
            about new items to use in place of the run's own.
        classifier: The classifier's options, where the run cannot carry them because Python made a part of them.
    """
    home, kept = Path(folder), read_run(folder)
    with undamaged(home):
        learned = _learned(home, kept, vocabulary, classifier)
        _check_classifier(learned)
    return Run(home, kept, learned)


def _learned(home: Path, kept: Kept, vocabulary: Vocabulary | None, classifier: Architecture | None) -> Learned:
    """What the fit left, from plain data."""
    config = kept.config
    rules, words = (None, vocabulary) if config["rules"] is None else carried_rules(home, config["rules"], vocabulary)
    architecture = _architecture(home, config) if classifier is None else classifier
    projector = configured(Projector(rules=rules, vocabulary=words), config["teacher"])
    teacher = Teacher(kept.labels.classes, projector)
    outcome, history = config["outcome"], tuple(row_of(row) for row in kept.history)
    if needed(outcome["chosen"], int, "the chosen epoch") not in range(1, len(history) + 1):
        raise ValueError(f"epoch {outcome['chosen']} is chosen, and the history has {len(history)}")
    since = outcome.get("since")
    if since is not None and needed(since, int, "since") not in range(1, len(kept.again) + 1):
        raise ValueError(f"the mean is since epoch {since}, and the second pass has {len(kept.again)}")
    epoch = Epoch(
        **numbers(outcome["epoch"], "the outcome"),
        p=kept.views["p"],
        q_a=kept.views["q_a"],
        q_b=kept.views["q_b"],
        q_f=kept.views["q_f"],
        confusion=np.asarray(kept.estimate.confusion),
        factors=teacher.factors,
    )
    return Learned(
        kept.estimate,
        epoch,
        outcome["chosen"],
        history,
        architecture.load(kept.model, kept.labels.classes),
        teacher,
        Task(kept.corpus, kept.labels, kept.labels),
        tuple(row_of(row) for row in kept.again),
        since,
    )


def _check_classifier(learned: Learned) -> None:
    """Raise unless the classifier can answer: its arrays may fit each other and yet not the items."""
    corpus = learned.task.corpus
    sizes = np.ones(len(corpus.items)) if corpus.offsets is None else np.diff(corpus.offsets)
    some = corpus.take_items(np.flatnonzero(sizes)[:1])
    found, expected = learned.classifier.predict_proba(some).shape, (some.n_units, learned.task.labels.n_classes)
    if found != expected:
        raise ValueError(f"{MODEL}: the classifier's answers are {found} where {expected} is expected")


def row_of(noted: Any) -> Row:
    """A line of the history, as a file has it."""
    line = dict(needed(noted, Mapping, "a line of the history"))
    scores = numbers(line.pop("scores"), "scores")
    marks = {name: needed(line.pop(name, False), bool, name) for name in ("kept", "again")}
    return Row(**numbers(line, "a line of the history"), scores=scores, **marks)


def _architecture(home: Path, config: Mapping[str, Any]) -> Architecture:
    """The classifier's options, as the run notes them."""
    options = needed(config["method"]["classifier"], Mapping, "the classifier")
    foreign = of_python(options)
    if foreign is not None:
        raise OptionError(
            f"{home}: its classifier holds a {foreign} that was made in Python. Load the run from Python with the same "
            f"`classifier`."
        )
    made: Architecture = configured(architecture_named(options["name"]), options)
    return made
