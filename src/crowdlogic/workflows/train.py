"""Labels, items and rules to a run: what is read, the training itself, and its outcome."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdlogic.data.wording import pluralise, shorten_name
from crowdlogic.data.writing import write_estimate
from crowdlogic.errors import CrowdLogicError, Interrupted, OptionError, ResourceError
from crowdlogic.learning.confidence import PredictionScales, ScaleSource
from crowdlogic.learning.epoch import EpochCallback
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.saved_run import Run, confidence_record
from crowdlogic.learning.scoring import score_name
from crowdlogic.learning.training_run import train_run
from crowdlogic.rules.audit import Verdict
from crowdlogic.store.damage import reading, require_entry
from crowdlogic.store.layout import is_run, last_epoch, read_config
from crowdlogic.store.locks import check_claimable
from crowdlogic.store.options.changes import read_toml
from crowdlogic.truth.expected_accuracy import describe_mistakes, describe_source, expected_accuracy
from crowdlogic.workflows.aggregate import FEW_ANSWERS, unit_noun
from crowdlogic.workflows.outputs import check_outputs
from crowdlogic.workflows.tables import ResultTable, percent
from crowdlogic.workflows.train_options import TrainOptions
from crowdlogic.workflows.training_inputs import TrainingInputs, read_training_inputs
from crowdlogic.workflows.truth_methods import collect_convergence_warnings

HELD_OUT = "held-out log likelihood"
"""The stopping score without dev items."""


CLEAN_LABELS, CLEAN_TAGS = "truth.csv", "truth.jsonl"
"""The clean labels of a run, in a file that any program reads."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PreparedTraining:
    """A training that is ready to begin.

    Attributes:
        folder: The folder of the run.
        inputs: The method, and what it is fitted to.
        resume: Whether to go on with the run that is in the folder.
    """

    folder: Path
    inputs: TrainingInputs
    resume: bool = False

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person should know of the inputs."""
        return self.inputs.notices

    @property
    def stopping_score(self) -> str:
        """The name of the score for early stopping; empty when there is none."""
        dev = self.inputs.data.dev
        if dev is not None:
            return f"dev {score_name(dev.classes, sequential=dev.is_sequential)}"
        return "" if self.inputs.method.limits.held_out is None else HELD_OUT

    @property
    def has_rules(self) -> bool:
        """Whether rules, or transitions between tags, correct what is learnt."""
        projector = getattr(self.inputs.method, "projector", None)
        if projector is None:
            return False
        return self.inputs.data.rules is not None or projector.rules is not None or projector.transitions is not None

    def train(self, *, callback: EpochCallback | None = None) -> TrainingOutcome:
        """Train and save the run.

        Args:
            callback: Callback, called after each epoch.
        """
        with _interruptible(self.folder), collect_convergence_warnings() as warned:
            run = train_run(self.folder, self.inputs.method, self.inputs.data, resume=self.resume, callback=callback)
        clean = self.folder / (CLEAN_TAGS if run.estimate.offsets is not None else CLEAN_LABELS)
        write_estimate(clean, run.estimate, corpus=run.record.corpus)
        return TrainingOutcome(run=run, clean=clean, notices=(*warned, *_contradicted_rules(run)))


def prepare_training(
    options: TrainOptions,
    folder: str | Path,
    *,
    config: str | None = None,
    resume: bool = False,
    allow_outside: bool = False,
) -> PreparedTraining:
    """Read everything that a training needs and check it, before anything is written.

    Args:
        options: The options.
        folder: The folder of the run; a new or an empty one, or with `resume` a run.
        config: A TOML file with options for what `options` leaves open.
        resume: Whether to go on with a run; its own options then hold where no others are given.
        allow_outside: Whether rules may name files that are not beside or below the rule file. No run and no TOML
            file can say so.
    """
    home = Path(folder)
    check_outputs((home,), own=home)
    check_claimable(home, resume=resume)
    known = resolve_options(options, home, config=config, resume=resume)
    inputs = read_training_inputs(known, allow_outside=allow_outside)
    return PreparedTraining(folder=home, inputs=inputs, resume=resume)


def resolve_options(options: TrainOptions, folder: Path, *, config: str | None, resume: bool) -> TrainOptions:
    """The options over those of a TOML file over those of the run that is resumed."""
    known = options if config is None else options.override(read_toml(config), where=f"{config}: ")
    if resume and is_run(folder):
        with reading(folder):
            known = known.override(require_entry(read_config(folder), "inputs", dict), where=f"{folder}: ")
    if known.labels is None:
        if resume:
            raise OptionError(
                f"{folder}: there is no run to resume. Name the folder of an interrupted run with -o, or begin one: "
                f"crowdlogic train --labels FILE --items FILE -o {folder}"
            )
        raise OptionError("There is nothing to learn from. Give the labels, and the items: --labels FILE --items FILE.")
    return known


@contextmanager
def _interruptible(folder: Path) -> Iterator[None]:
    """Ctrl-C leaves a run that can be resumed, and says how."""
    try:
        yield
    except KeyboardInterrupt as stop:
        done = last_epoch(folder)
        raise Interrupted(
            f"interrupted after {done}. Go on with it: crowdlogic train --resume -o {folder}"
            if done
            else "interrupted before the first epoch was over; nothing is saved."
        ) from stop
    except (OSError, MemoryError) as problem:
        if isinstance(problem, CrowdLogicError):
            raise
        raise ResourceError(_explain_failure(folder, problem)) from problem


def _explain_failure(folder: Path, problem: OSError | MemoryError) -> str:
    """What failed, what is saved, and how to go on."""
    what = "not enough memory"
    if isinstance(problem, OSError):
        what = f"{problem.filename or folder}: {problem.strerror or problem}"
    done = last_epoch(folder) if is_run(folder) else ""
    if not done:
        return f"{what}. Nothing is saved: make room, and train again."
    return f"{what}. The run is saved up to {done}: make room, and go on with it: crowdlogic train --resume -o {folder}"


def _contradicted_rules(run: Run) -> Iterator[str]:
    for one in run.audit:
        if one.verdict is Verdict.contradicts:
            share = percent(one.satisfaction)
            rule = shorten_name(one.rule)
            yield f"{one.place}: the rule {rule} contradicts the crowd (it holds in {share} of the cases)."


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingOutcome:
    """A training that is done.

    Attributes:
        run: The run.
        clean: The file of its clean labels, for people; the run itself does not need it.
        notices: What the fit warned about, and the rules that the crowd contradicts.
    """

    run: Run
    clean: Path
    notices: tuple[str, ...]

    @property
    def learned(self) -> Learned:
        """What was learnt."""
        return self.run.learned

    @property
    def has_scores(self) -> bool:
        """Whether there was gold to score anything with."""
        return bool(self.learned.final.scores)

    @property
    def message(self) -> str:
        """The outcome in one sentence."""
        learned = self.learned
        refit = (
            f", then {pluralise(len(learned.refit_history), 'epoch')} with all labels" if learned.refit_history else ""
        )
        if learned.averaged_from is not None:
            refit += f", weights averaged from epoch {learned.averaged_from}"
        estimate = learned.estimate
        size = f"{pluralise(len(estimate.items), 'item')}, {pluralise(len(estimate.annotators), 'annotator')}"
        return (
            f"{estimate.method}: {size}, epoch {learned.chosen} of {len(learned.history)} chosen{refit} -> "
            f"{self.run.folder} (clean labels: {self.clean})"
        )

    @property
    def confidence_message(self) -> str:
        """What the confidence of answers and of predictions rests on, in one line."""
        estimate = self.learned.estimate
        expected = None if estimate.calibration is None else expected_accuracy(estimate)
        if expected is None:
            answers = "The confidence of the answers is not calibrated."
        elif expected.n < FEW_ANSWERS:
            answers = f"The confidence of the answers is right {describe_source(expected.calibration)}."
        else:
            answers = describe_mistakes(expected, unit_noun(estimate))
        return f"{answers} {describe_scales(self.learned.scales)}"

    def table(self) -> ResultTable:
        """The scores by gold."""
        labels = self.learned.task.labels
        name = score_name(labels.classes, sequential=labels.is_sequential)
        rows = [(which, percent(value)) for which, value in self.learned.final.scores.items()]
        return ResultTable(title=f"{name} {self._which_epochs()}", columns=["on", name], rows=rows)

    def _which_epochs(self) -> str:
        """The epoch, or the epochs, that the answers are of."""
        if self.learned.averaged_from is not None:
            return (
                f"with weights averaged over epochs {self.learned.averaged_from} to {len(self.learned.refit_history)}"
            )
        return f"at the chosen epoch ({self.learned.chosen})"

    def figures(self) -> dict[str, Any]:
        """The outcome as plain data."""
        learned = self.learned
        return {
            "method": learned.estimate.method,
            "epoch": learned.chosen,
            "epochs": len(learned.history),
            "refit_epochs": len(learned.refit_history),
            "averaged_from": learned.averaged_from,
            "stopping": learned.history[learned.chosen - 1].stopping,
            "k": learned.final.k,
            "loss": learned.final.loss,
            "scores": dict(learned.final.scores),
            "confidence": confidence_record(learned),
            "seconds": sum(row.seconds for row in (*learned.history, *learned.refit_history)),
        }


def describe_scales(scales: PredictionScales) -> str:
    """What the confidence on new items rests on, in one sentence."""
    by_name = {"student": scales.student} | ({} if scales.teacher == scales.student else {"teacher": scales.teacher})
    if scales.student.source is ScaleSource.nothing:
        return "On new items the confidence is not calibrated: give items with gold (--dev), or hold items out."
    if scales.student.source is ScaleSource.held_out:
        return f"On new items it is calibrated by the labels of {scales.student.n:,} held-out ones."
    errors = [
        f"{name} {percent(scale.error_before)} before and {percent(scale.error_after)} after"
        for name, scale in by_name.items()
        if scale.error_before is not None and scale.error_after is not None
    ]
    return f"On new items it is calibrated by dev gold ({scales.student.n:,}); calibration error: {', '.join(errors)}."
