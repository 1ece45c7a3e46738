"""The rows of the paper's tables: which method with which options, run with a seed and scored.

A row is the name of a method, or a name and options, `name, option, option`: how the rules of tags are read
(`logic-lncl, paper`), what the rules start from (`from the classifier`), their strength (`C 2`), the imitation
(`k 0.5`, `k 1 - 0.98^t`), no patience (`all epochs`) or fewer training items (`3300 samples`). Rows that begin with
`truth` infer the truth and learn nothing.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, fields, replace
from typing import Any

import numpy as np

from crowdlogic.data.benchmarks import Benchmark
from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.tagging import Scheme
from crowdlogic.errors import OptionError
from crowdlogic.experiments.annotators import annotators_of
from crowdlogic.experiments.jobs import Job
from crowdlogic.experiments.tasks import WEAK_MODELS, sample, task_named
from crowdlogic.learning.crf_ma import CRFMA
from crowdlogic.learning.crowd_layer import CrowdLayer, Kind
from crowdlogic.learning.doctor_nets import DoctorNets
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.logic_lncl import LogicLNCL, Loss
from crowdlogic.learning.presets import CONLL_TIES, READINGS, Configured
from crowdlogic.learning.schedules import Constant, Growing
from crowdlogic.learning.scoring import score
from crowdlogic.learning.settled_truth import Answered, SettledTruth
from crowdlogic.learning.special import AggNet, Raykar
from crowdlogic.learning.stopping import HeldOut
from crowdlogic.learning.two_stage import Gold, TwoStage
from crowdlogic.metrics.spans import span_scores
from crowdlogic.numerics.arrays import Ints
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.projection.presets import PRESETS, Start
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.rules.transitions import CONLL_START, TransitionTable, transition_table
from crowdlogic.truth.bsc_seq import BSCSeq
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.glad import GLAD
from crowdlogic.truth.hmm_crowd import HMMCrowd
from crowdlogic.truth.ibcc import IBCC
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod
from crowdlogic.truth.ties import Ties
from crowdlogic.truth.weighting import CATD, PM

Made = tuple[LogicLNCL | TwoStage | Gold | CrowdLayer | DoctorNets | CRFMA, RuleSet | None]
"""A method and the rules that its `fit` is given."""

Maker = Callable[[Configured, int], Made]
"""A row: from a task's configuration and a seed to a method."""

UNREALISTIC = {("O", "O"): 1.0} | {
    (f"B-{kind}", f"{part}-{kind}"): 1.0 for kind in ("PER", "LOC", "ORG", "MISC") for part in "BI"
}
"""The other rules of tags: each tag after a tag of its own type and after nothing else, so that no entity can begin."""


def _gold(base: Configured, seed: int) -> Made:
    own = base.method
    method = Gold(
        own.classifier, own.strength, own.preset, own.transitions, epochs=own.epochs, patience=own.patience, seed=seed
    )
    return method, base.rules


def _two_stage(truth: TruthMethod | None) -> Maker:
    """Majority vote as the method itself starts, or another truth method, and then the classifier."""

    def make(base: Configured, seed: int) -> Made:
        own, hard = base.method, truth is None and base.method.start.ties != Ties.soft
        chosen = truth or own.start
        method = TwoStage(
            chosen,
            own.classifier,
            hard,
            own.strength,
            own.preset,
            own.transitions,
            epochs=own.epochs,
            patience=own.patience,
            seed=seed,
        )
        return method, base.rules

    return make


def _agg_net(base: Configured, seed: int) -> Made:
    own = base.method
    plain = AggNet(
        classifier=own.classifier,
        loss=Loss.plain,
        start=own.start,
        smoothing=own.smoothing,
        trust=own.trust,
        epochs=own.epochs,
        patience=own.patience,
        seed=seed,
    )
    return plain, None


def _crf_ma(_: Configured, seed: int) -> Made:
    """For tags only. No chance enters, so all seeds agree."""
    return CRFMA(seed=seed), None


def _silence(base: Configured, seed: int) -> Made:
    own = base.method
    return AggNet(classifier=own.classifier, start=own.start, silence=True, seed=seed), None


def _crowd_layer(kind: Kind, pretraining: int) -> Maker:
    """A crowd layer after so many epochs on the majority vote, as the method itself starts."""

    def make(base: Configured, seed: int) -> Made:
        own = base.method
        return CrowdLayer(own.classifier, kind, pretraining, own.start, own.epochs, own.patience, seed=seed), None

    return make


def _doctor_nets(weighted: bool) -> Maker:
    def make(base: Configured, seed: int) -> Made:
        own = base.method
        return DoctorNets(own.classifier, weighted, own.epochs, own.patience, seed=seed), None

    return make


def _without_rules(base: Configured, seed: int) -> Made:
    return replace(base.method, transitions=None, seed=seed), None


def _logic(base: Configured, seed: int) -> Made:
    return replace(base.method, seed=seed), base.rules


def _raykar(base: Configured, seed: int) -> Made:
    own = base.method
    method = Raykar(
        start=own.start, smoothing=own.smoothing, trust=own.trust, epochs=own.epochs, patience=own.patience, seed=seed
    )
    return method, None


def _settled(truth: TruthMethod | None) -> Maker:
    """The rules on the truth of another method; None for the vote that Algorithm 1 starts with."""

    def make(base: Configured, seed: int) -> Made:
        return _settled_on(base, truth, seed)

    return make


def _settled_on(base: Configured, truth: TruthMethod | None, seed: int) -> Made:
    own = {one.name: getattr(base.method, one.name) for one in fields(base.method)}
    return SettledTruth(**(own | {"seed": seed}), truth=truth), base.rules


def _other_rules(base: Configured, seed: int) -> Made:
    """The word however in place of but; for tags, rules that nobody would believe."""
    if base.method.transitions is None:
        return replace(base.method, seed=seed), parse_rules("1.0: include contrast('however')", source="other rules")
    table = base.method.transitions
    classes = table.classes if isinstance(table, TransitionTable) else tuple(sorted(CONLL_TIES))
    other = transition_table(UNREALISTIC, classes, start=CONLL_START)
    return replace(base.method, transitions=other, seed=seed), base.rules


def _gold_free(apart: str, *, average: int = HeldOut().average) -> Maker:
    """No dev gold: labels kept apart decide when to stop."""

    def make(base: Configured, seed: int) -> Made:
        return replace(base.method, held_out=HeldOut(apart=apart, average=average), seed=seed), base.rules

    return make


ROWS: dict[str, Maker] = {
    "gold": _gold,
    "majority": _two_stage(None),
    "dawid-skene": _two_stage(DawidSkene()),
    "glad": _two_stage(GLAD()),
    "aggnet": _agg_net,
    "raykar": _raykar,
    "majority rule": _settled(None),
    "glad rule": _settled(GLAD()),
    "other rules": _other_rules,
    "annotators": _logic,
    "crf-ma": _crf_ma,
    "aggnet with silence": _silence,
    "cl mw": _crowd_layer(Kind.MW, 5),
    "cl vw": _crowd_layer(Kind.VW, 5),
    "cl vw-b": _crowd_layer(Kind.VW_B, 5),
    "cl mw 1": _crowd_layer(Kind.MW, 1),
    "dl-dn": _doctor_nets(weighted=False),
    "dl-wdn": _doctor_nets(weighted=True),
    "without rules": _without_rules,
    "logic-lncl": _logic,
    "gold-free items": _gold_free("items"),
    "gold-free without a mean": _gold_free("items", average=1),
    "gold-free annotations": _gold_free("annotations"),
}


AGGNET_RULE = "aggnet rule"
"""Two fits: AggNet settles the truth, then come the rules."""

TRUTH: dict[str, Callable[[int], TruthMethod]] = {
    "truth majority": lambda seed: MajorityVote(ties=Ties.random, seed=seed),
    "truth majority, paper's ties": lambda _: MajorityVote(ties=Ties.order, order=CONLL_TIES),
    "truth dawid-skene": lambda _: DawidSkene(),
    "truth glad": lambda _: GLAD(),
    "truth pm": lambda _: PM(),
    "truth catd": lambda _: CATD(),
    "truth ibcc": lambda _: IBCC(),
    "truth bsc-seq": lambda _: BSCSeq(),
    "truth hmm-crowd": lambda _: HMMCrowd(),
}  # fmt: skip
"""The rows that only infer. All but the first are the same whatever the seed."""


ALL_EPOCHS = "all epochs"
"""The option of no patience; every epoch is then scored on dev and test."""


def varied(data: Benchmark, base: Configured, option: str, *, seed: int) -> tuple[Benchmark, Configured]:
    """A task with one thing changed."""
    method = base.method
    match option.split():
        case ["C", strength]:
            method = replace(method, strength=float(strength))
        case ["k", imitation]:
            method = replace(method, imitation=Constant(float(imitation)))
        case ["k", "1", "-", power] if power.endswith("^t"):
            method = replace(method, imitation=Growing(float(power.removesuffix("^t"))))
        case ["from", "the", "classifier"]:
            own = PRESETS[method.preset] if isinstance(method.preset, str) else method.preset
            method = replace(method, preset=replace(own, start=Start.classifier))
        case _ if option == ALL_EPOCHS:
            held_out = None if method.held_out is None else replace(method.held_out, patience=method.epochs)
            method = replace(method, patience=method.epochs, held_out=held_out)
        case [size, "samples"]:
            return sample(data, int(size), seed=seed), base
        case _:
            raise OptionError(f"row: there is no option {option!r}.")
    return data, replace(base, method=method)


def configured(job: Job) -> tuple[Benchmark, Configured, str]:
    """The data of a job, its configuration and the name of its method."""
    row, *options = job.row.split(", ")
    if row not in ROWS and row != AGGNET_RULE:
        raise OptionError(f"row: {row!r} is none of {', '.join([*ROWS, AGGNET_RULE, *TRUTH])}.")
    reading = options.pop(0) if options and options[0] in (*READINGS, *WEAK_MODELS) else ""
    data, base = task_named(job.task, reading)
    for option in options:
        data, base = varied(data, base, option, seed=job.seed)
    return data, base, row


def run(job: Job) -> dict[str, Any]:
    """Fit a row with a seed, and score it."""
    begin = time.perf_counter()
    if job.row in TRUTH:
        return asdict(job) | _inferred(job) | {"seconds": time.perf_counter() - begin}
    data, base, row = configured(job)
    begin = time.perf_counter()
    learned = _fitted(data, base, row, job.seed, watch=row.startswith("gold-free") or job.row.endswith(ALL_EPOCHS))
    seconds = time.perf_counter() - begin
    found = {"seconds": seconds, "chosen": learned.chosen, "scores": final_scores(learned, data)}
    found |= {"annotators": annotators_of(learned)} if row == "annotators" else {}
    found |= {"since": learned.since, "again": [asdict(one) for one in learned.again]} if learned.again else {}
    return asdict(job) | found | {"history": [asdict(one) for one in learned.history]}


def _fitted(data: Benchmark, base: Configured, row: str, seed: int, *, watch: bool = False) -> Learned:
    """A row's fit; to watch is to score every epoch on test and dev."""
    if row == AGGNET_RULE:
        first = _fitted(data, base, "aggnet", seed)
        method, rules = _settled_on(base, Answered(first.estimate), seed)
    else:
        method, rules = ROWS[row](base, seed)
    parts = {"test": data.test, "dev gold": data.dev} if watch else {}
    watched = {name: corpus for name, corpus in parts.items() if corpus is not None}
    dev = None if row.startswith("gold-free") else data.dev
    return method.fit(data.corpus, data.labels, rules=rules, dev=dev, watched=watched)


def _inferred(job: Job) -> dict[str, Any]:
    """A truth method's answers, scored; nothing is learnt, so there is nothing to choose."""
    data, _ = task_named(job.task)
    labels, corpus = align(data.labels, data.corpus)
    answer = TRUTH[job.row](job.seed).infer(labels, corpus).answer
    hard = np.eye(labels.n_classes)[np.maximum(answer, 0)]
    return {"chosen": 0, "scores": {"inference": figures(corpus.with_classes(labels.classes), hard)}, "history": []}


def final_scores(learned: Learned, data: Benchmark) -> dict[str, dict[str, float]]:
    """What the chosen epoch scores: prediction on the test (and dev) items, and inference on the training items."""
    answers = {"inference": (learned.task.corpus, learned.epoch.q_f)}
    for mark, corpus in (("", data.test), ("dev ", data.dev)):
        if corpus is not None:
            items = corpus.with_classes(learned.task.labels.classes)
            student = learned.classifier.predict_proba(items)
            answers[f"{mark}student"] = (items, student)
            answers[f"{mark}teacher"] = (items, learned.teacher.predict(items, learned.classifier, student))
    return {name: figures(corpus, beliefs) for name, (corpus, beliefs) in answers.items()}


def figures(corpus: Corpus, beliefs: Beliefs) -> dict[str, float]:
    """Accuracy; for tags precision, recall and F1 under both schemes."""
    answer = beliefs.argmax(axis=1)
    if corpus.offsets is None:
        return {"accuracy": score(corpus, beliefs), "f1": _second_class_f1(np.asarray(corpus.gold), answer)}
    found: dict[str, float] = {}
    for scheme in Scheme:
        said = span_scores(corpus.gold, answer, corpus.offsets, corpus.classes, scheme=scheme)  # type: ignore[arg-type]
        mark = "" if scheme is Scheme.conll else "strict "
        found |= {f"{mark}precision": said.precision, f"{mark}recall": said.recall, f"{mark}f1": said.f1}
    return found


def _second_class_f1(gold: Ints, answer: Ints) -> float:
    """F1 of the second class, which is what is looked for where there are two: spam, say."""
    right = int(((gold == 1) & (answer == 1)).sum())
    return 2 * right / max(int((gold == 1).sum() + (answer == 1).sum()), 1)
