"""The rows of the paper's tables: the method and the options behind the name of a row.

A row is the name of a method, or a name and options, `name, option, option`: how the rules of tags are read
(`logic-lncl, paper`), what the rules start from (`from the classifier`), their strength (`C 2`), the imitation
(`k 0.5`, `k 1 - 0.98^t`), no patience (`all epochs`) or fewer training items (`3300 samples`); also other first targets
(`start majority`), another number of epochs that learn them (`warm-up 1`), another annotator model (`annotators
confusion`), another correlation of labels (`correlation 0`), another learning rate (`halving 0`) or `no rules`. Rows
that begin with `truth` infer the truth and learn nothing. Rows that end with `bilstm-crf` have today's tagger, and are
beyond the paper.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from crowdlogic.data.benchmarks import Benchmark
from crowdlogic.errors import OptionError, did_you_mean, name_list
from crowdlogic.experiments import methods
from crowdlogic.experiments.jobs import Job
from crowdlogic.experiments.tasks import WEAK_MODELS, load_task, sample_items
from crowdlogic.learning.baselines.crowd_layer import LayerKind
from crowdlogic.learning.imitation import ConstantImitation, GrowingImitation
from crowdlogic.learning.presets import CONLL_TIES, READINGS, PresetConfiguration
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod, truth_method
from crowdlogic.truth.ties import Ties

ROWS: dict[str, methods.Builder] = {
    "gold": methods.gold,
    "majority": methods.two_stage(None),
    "dawid-skene": methods.two_stage("dawid-skene"),
    "glad": methods.two_stage("glad"),
    "aggnet": methods.aggnet,
    "raykar": methods.raykar,
    "majority rule": methods.rules_on_truth(None),
    "glad rule": methods.rules_on_truth("glad"),
    "other rules": methods.other_rules,
    "annotators": methods.logic_lncl,
    "crf-ma": methods.crf_ma,
    "aggnet with silence": methods.aggnet_with_silence,
    "cl mw": methods.crowd_layer(LayerKind.MW, pretraining=5),
    "cl vw": methods.crowd_layer(LayerKind.VW, pretraining=5),
    "cl vw-b": methods.crowd_layer(LayerKind.VW_B, pretraining=5),
    "cl mw 1": methods.crowd_layer(LayerKind.MW, pretraining=1),
    "dl-dn": methods.doctor_nets(weighted=False),
    "dl-wdn": methods.doctor_nets(weighted=True),
    "without rules": methods.without_rules,
    "logic-lncl": methods.logic_lncl,
    "logic-lncl-bilstm-crf": methods.logic_lncl,
    "aggnet-bilstm-crf": methods.aggnet,
    "gold-bilstm-crf": methods.gold,
    "gold-free items": methods.without_gold("items"),
    "gold-free without a mean": methods.without_gold("items", average=1),
    "gold-free annotations": methods.without_gold("annotations"),
    "gold-free logic-lncl-bilstm-crf": methods.without_gold("items"),
}
"""The rows that are one fit."""

AGGNET_RULE = "aggnet rule"
"""The row that is two fits: AggNet infers the truth, then Logic-LNCL applies the rules to it."""

TRUTH_ROWS: dict[str, Callable[[int], TruthMethod]] = {
    "truth majority": lambda seed: MajorityVote(ties=Ties.random, seed=seed),
    "truth majority, paper's ties": lambda _: MajorityVote(ties=Ties.order, order=CONLL_TIES),
    "truth dawid-skene": lambda _: truth_method("dawid-skene"),
    "truth glad": lambda _: truth_method("glad"),
    "truth pm": lambda _: truth_method("pm"),
    "truth catd": lambda _: truth_method("catd"),
    "truth ibcc": lambda _: truth_method("ibcc"),
    "truth bsc-seq": lambda _: truth_method("bsc-seq"),
    "truth hmm-crowd": lambda _: truth_method("hmm-crowd"),
}
"""The rows that only infer, from a random seed. All but the first are the same whatever the seed."""

BILSTM_CRF = "bilstm-crf"
"""How the names of the rows end that have the tagger of `--preset ner` in place of the paper's."""

GOLD_FREE = "gold-free"
"""How the names of the rows begin that are not given the dev gold."""

ALL_EPOCHS = "all epochs"
"""The option of no patience; every epoch is then scored on dev and test."""


@dataclass(frozen=True, kw_only=True)
class RowSetup:
    """What a job fits.

    Attributes:
        name: The name of the method, a key of ROWS or AGGNET_RULE.
        data: The data, with fewer training items if the row says so.
        task: The configuration of the task with the options of the row.
        options: The options of the row.
    """

    name: str
    data: Benchmark
    task: PresetConfiguration
    options: tuple[str, ...] = ()

    @property
    def is_gold_free(self) -> bool:
        """Whether held-out labels stop the fit instead of the dev gold."""
        return self.name.startswith(GOLD_FREE)

    @property
    def scores_every_epoch(self) -> bool:
        """Whether every epoch is scored on dev and test, to compare ways of stopping."""
        return self.is_gold_free or ALL_EPOCHS in self.options


def row_names() -> list[str]:
    """The names of all rows, without options."""
    return [*ROWS, AGGNET_RULE, *TRUTH_ROWS]


def set_up(job: Job) -> RowSetup:
    """Load the data of a job and apply the options of its row."""
    name, *options = job.row.split(", ")
    if name not in ROWS and name != AGGNET_RULE:
        raise OptionError(
            f"row: no row is called {name!r}.{did_you_mean(name, row_names())} "
            f"There are {name_list(row_names(), most=60)}."
        )
    has_variant = bool(options) and options[0] in (*READINGS, *WEAK_MODELS)
    data, task = load_task(job.task, options[0] if has_variant else "")
    if name.endswith(BILSTM_CRF):
        task = methods.replace_classifier(task) if name.startswith("aggnet") else methods.replace_tagger(task)
    for option in options[1:] if has_variant else options:
        data, task = apply_option(data, task, option, seed=job.seed)
    return RowSetup(name=name, data=data, task=task, options=tuple(options))


def apply_option(
    data: Benchmark, task: PresetConfiguration, option: str, *, seed: int
) -> tuple[Benchmark, PresetConfiguration]:
    """A task with one option of a row applied."""
    match option.split():
        case [size, "samples"]:
            return sample_items(data, int(size), seed=seed), task
        case ["no", "rules"]:
            return data, PresetConfiguration(task.method, None)
        case ["start" | "warm-up" | "annotators" | "correlation" | "halving" as what, value]:
            return data, replace(task, method=_change_part(task.method, what, value))
    return data, replace(task, method=_change_reading(task.method, option))


def _change_part(method: methods.TaskMethod, what: str, value: str) -> methods.TaskMethod:
    """Another part of the tagger of `--preset ner`."""
    match what:
        case "start":
            return methods.with_start(method, value)
        case "warm-up":
            return methods.with_warm_up(method, int(value))
        case "correlation":
            return methods.with_correlation(method, float(value))
        case "halving":
            return methods.with_halving(method, int(value))
    return methods.with_annotators(method, value)


def _change_reading(method: methods.TaskMethod, option: str) -> methods.TaskMethod:
    """Another strength, imitation or start of the rules, or no patience."""
    match option.split():
        case ["C", strength]:
            return methods.with_strength(method, float(strength))
        case ["k", imitation]:
            return methods.with_imitation(method, ConstantImitation(float(imitation)))
        case ["k", "1", "-", power] if power.endswith("^t"):
            return methods.with_imitation(method, GrowingImitation(float(power.removesuffix("^t"))))
        case ["from", "the", "classifier"]:
            return methods.projecting_predictions(method)
        case _ if option == ALL_EPOCHS:
            return methods.without_patience(method)
    raise OptionError(
        f"row: there is no option {option!r}. There are 'C 2', 'k 0.5', 'k 1 - 0.98^t', 'from the classifier', 'start "
        f"majority', 'warm-up 1', 'annotators confusion', 'correlation 0', 'halving 0', 'no rules', {ALL_EPOCHS!r} "
        f"and '3300 samples', each with a number or name of your own."
    )
