"""Runs of the experiments: tasks, rows of the tables, fitting and scoring with a random seed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import Architecture, predict
from crowdlogic.data.chain_beliefs import AnyBeliefs, answers
from crowdlogic.data.corpus import UNKNOWN, Corpus, align
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.data.tagging import Scheme
from crowdlogic.data.vectors import WordVectors, concatenate_vectors, read_vectors
from crowdlogic.errors import OptionError, did_you_mean, name_list
from crowdlogic.extensions.paper import methods
from crowdlogic.extensions.paper.benchmarks import Benchmark, data_folder, load_benchmark
from crowdlogic.extensions.paper.jobs import Job
from crowdlogic.extensions.paper.published import QUICK
from crowdlogic.learning.algorithm import ConstantImitation, GrowingImitation, LogicLNCL
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.method import TrainingData
from crowdlogic.learning.presets import CONLL_TIES, PAPER, READINGS, PresetConfiguration, ner, sentiment
from crowdlogic.learning.rule_suggestions import suggest_rules
from crowdlogic.learning.task import score
from crowdlogic.metrics.spans import span_scores
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.registry import ANNOTATOR_MODELS, CLASSIFIERS
from crowdlogic.rules.projection.projector import Start, find_preset
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod, truth_method
from crowdlogic.truth.ties import Ties

BUSIEST = 6
"""Number of annotators with the most labels whose full matrices are recorded."""

DIGITS = 5
"""Number of decimal places in files."""


def annotator_record(learned: Learned) -> dict[str, Any]:
    """Return the record for figures of annotators: scores of each, matrices of those with the most labels."""
    labels, gold = learned.task.labels, np.asarray(learned.task.corpus.gold)
    real, seen = real_confusion(labels, gold)
    estimated = learned.epoch.annotators.confusion
    count = labels.labels_per_annotator()
    busiest = np.argsort(-count, kind="stable")[:BUSIEST]
    skill = _skill(learned, gold)
    return {
        "classes": [str(name) for name in labels.classes],
        "each": [
            {
                "name": str(labels.annotators[int(j)]),
                "labels": int(count[j]),
                "items": int(items),
                "skill": _round(skill[j]),
                "estimated": _round(overall_reliability(estimated[j], seen[j])),
                "real": _round(overall_reliability(real[j], seen[j])),
            }
            for j, items in enumerate(np.bincount(labels.annotations()[1], minlength=len(labels.annotators)))
        ],
        "busiest": [
            {"name": str(labels.annotators[int(j)]), "estimated": _matrix(estimated[j]), "real": _matrix(real[j])}
            for j in busiest
        ],
    }


def real_confusion(labels: CrowdLabels, gold: Ints) -> tuple[Floats, Floats]:
    """Return confusion[j, m, n] computed from gold, NaN without labels, and the label counts seen[j, m]."""
    size, truth = labels.n_classes, gold[labels.unit]
    known = truth != UNKNOWN
    # The index of (j, m, n) in the flattened array, for each label with gold.
    cell = (labels.annotator[known] * size + truth[known]) * size + labels.label[known]
    counts = np.bincount(cell, minlength=len(labels.annotators) * size * size).astype(np.float64)
    counts = counts.reshape(-1, size, size)
    seen = counts.sum(axis=2)
    return counts / np.where(seen > 0, seen, np.nan)[:, :, None], seen


def overall_reliability(confusion: Floats, seen: Floats) -> float:
    """Return the mean diagonal of confusion[m, n] over classes with seen[m] > 0, as in the paper; NaN without any."""
    diagonal = np.diagonal(confusion)[seen > 0]
    return float(diagonal.mean()) if len(diagonal) else float("nan")


def _skill(learned: Learned, gold: Ints) -> Floats:
    """Return skill[j]: the accuracy of an annotator's labels, or the F1 of their spans for tags."""
    labels, offsets = learned.task.labels, learned.task.corpus.offsets
    if offsets is None:
        right = (labels.label == gold[labels.unit]).astype(np.float64)
        count = np.maximum(labels.labels_per_annotator(), 1)
        return np.asarray(np.bincount(labels.annotator, right, minlength=len(labels.annotators)) / count)
    return np.array([_span_f1(labels, gold, j) for j in range(len(labels.annotators))])


def _span_f1(labels: CrowdLabels, gold: Ints, j: int) -> float:
    """Return the span F1 of one annotator on the sentences that they tagged."""
    own = np.flatnonzero(labels.annotator == j)
    unit = labels.unit[own]
    order = np.argsort(unit, kind="stable")
    own, unit = own[order], unit[order]
    # The units of one annotator, sentence after sentence; a new sentence begins where the item changes.
    first = np.flatnonzero(np.diff(labels.item_of_unit[unit], prepend=-1))
    offsets = np.append(first, len(unit))
    return float(span_scores(gold[unit], labels.label[own], offsets, labels.classes).f1)


def _matrix(confusion: Floats) -> list[list[float | None]]:
    return [[_round(value) for value in row] for row in confusion]


def _round(value: float) -> float | None:
    """Round a number for a file; None for NaN."""
    return None if np.isnan(value) else round(float(value), DIGITS)


WEAK_MODELS = ("linear", "kim-cnn")
"""Classifiers for the tasks of weak supervision, the default first."""

TASKS = (
    "sentiment", "sentiment-published", "ner", "weak-youtube", "weak-sms", "labelme", "quick-sentiment", "quick-ner"
)  # fmt: skip
"""Names of all tasks; those with `quick-` use simulated data and small networks, and take minutes."""

QUICK_ITEMS = {"sentiment": 300, "ner": 200}
"""Number of training items of the simulated tasks, and of dev and test items together."""

QUICK_EPOCHS, QUICK_RATE = 6, {"sentiment": 1.0, "ner": 5e-3}
"""Maximum number of epochs and learning rates of the simulated tasks."""

QUICK_BATCH = 8
"""Small batches, since few items give few gradient steps per epoch."""

PAPER_STEPS = {"sentiment": 100, "ner": 94}
"""Gradient steps per epoch on the paper's data: 4,999 reviews in batches of 50, 5,985 sentences in batches of 64."""


def load_task(task: str, variant: str = "") -> tuple[Benchmark, PresetConfiguration]:
    """Load the data of a task and its configuration.

    Args:
        task: One of TASKS.
        variant: The reading of the rules for tags (one of READINGS), or the classifier of a task of weak supervision
            (one of WEAK_MODELS); empty for the default.
    """
    if variant and task.removeprefix(QUICK).split("-")[0] in ("sentiment", "labelme"):
        raise OptionError(f"row: the task {task} has no option {variant!r}.")
    match task.split("-"):
        case ["sentiment", *split]:
            data = _load_cached("sentiment_mturk", split=split[0] if split else "clean")
            return data, sentiment(_kim_cnn(), reading=PAPER)
        case ["ner"]:
            data, network = (
                _load_cached("ner_conll_mturk"),
                CLASSIFIERS.load("cnn-gru")(vectors=_vectors("*glove*.npz")),
            )
            return data, ner(network, data.labels.classes, reading=variant or None)
        case ["weak", name]:
            if variant not in ("", *WEAK_MODELS):
                raise OptionError(
                    f"row: the task {task} has no option {variant!r}. Choose one of {name_list(WEAK_MODELS)}."
                )
            # Kim-CNN uses the word vectors of the sentiment task
            method = sentiment(_kim_cnn()).method if variant == "kim-cnn" else LogicLNCL(Linear())
            return _load_cached(f"weak/{name}"), PresetConfiguration(method, None)
        case ["labelme"]:
            return _load_cached("truth/labelme"), PresetConfiguration(LogicLNCL(CLASSIFIERS.load("mlp")()), None)
        case ["quick", ("sentiment" | "ner") as kind]:
            return _quick(kind, variant or None)
    raise OptionError(f"task: unknown task {task!r}.{did_you_mean(task, TASKS)} Choose one of {name_list(TASKS)}.")


def sample_items(data: Benchmark, size: int, *, seed: int) -> Benchmark:
    """Return the data with a random sample of the training items; dev and test are unchanged."""
    labels, corpus = align(data.labels, data.corpus)
    if not 0 < size <= len(corpus.items):
        raise OptionError(f"samples: {size:,} requested, but there are {len(corpus.items):,} items.")
    if size < len(corpus.items):
        labels, corpus = labels.split(size, seed=seed)[0], corpus.split(size, seed=seed)[0]
    return replace(data, labels=labels, corpus=corpus)


_load_cached = cache(load_benchmark)


@cache
def _vectors(pattern: str) -> WordVectors:
    """Return the word vectors in the files that match a pattern, concatenated if there are several."""
    found = [read_vectors(path) for path in sorted((data_folder() / "vectors").glob(pattern))]
    return found[0] if len(found) == 1 else concatenate_vectors(*found)


def _kim_cnn() -> Architecture:
    """Return Kim-CNN with GloVe and word2vec vectors."""
    made: Architecture = CLASSIFIERS.load("kim-cnn")(vectors=_vectors("*.npz"))
    return made


@cache
def _simulate(kind: str, items: int) -> Benchmark:
    """Simulate the data of a small task; half of the unlabelled items become dev, half test."""
    simulate = simulate_sentiment if kind == "sentiment" else simulate_ner
    made = simulate(0, items=items, test_items=items, labels_per_item=4)
    if made.test is None:
        raise OptionError(f"{made.name} has no items to test with.")
    dev, test = made.test.split(len(made.test.items) // 2, seed=0)
    return Benchmark(name=f"simulated {made.name}", labels=made.labels, corpus=made.corpus, dev=dev, test=test)


def _quick(kind: str, reading: str | None) -> tuple[Benchmark, PresetConfiguration]:
    """Return a small simulated task with a small network."""
    data = _simulate(kind, QUICK_ITEMS[kind])
    if kind == "sentiment":
        network = CLASSIFIERS.load("kim-cnn")(windows=(2, 3), filters=16, vector_size=24)
    else:
        network = CLASSIFIERS.load("cnn-gru")(filters=32, hidden_size=24, vector_size=24)
    training = replace(network.training, batch_size=QUICK_BATCH, learning_rate=QUICK_RATE[kind])
    small = replace(network, training=training)
    classes = data.labels.classes
    base = sentiment(small, reading=PAPER) if kind == "sentiment" else ner(small, classes, reading=reading)
    # k(t) counts the paper's epochs, which have about four times as many gradient steps as those here. Unchanged, it
    # gives the rules almost half of the weight while the network has not found a single entity; and as the rules of
    # tags correct the network's own predictions, the targets lose their entities, too. So k grows per gradient step
    # as it does on the paper's data.
    schedule = base.method.imitation
    if isinstance(schedule, GrowingImitation):
        steps = QUICK_ITEMS[kind] / QUICK_BATCH
        schedule = replace(schedule, base=schedule.base ** (steps / PAPER_STEPS[kind]))
    limits = replace(base.method.limits, epochs=QUICK_EPOCHS)
    return data, replace(base, method=replace(base.method, imitation=schedule, limits=limits))


# A row is the name of a method with optional options, `name, option, option`: the reading of the rules for tags
# (`logic-lncl, paper`), the start of the projection (`from the classifier`), the strength (`C 2`), the imitation (`k
# 0.5`, `k 1 - 0.98^t`), no patience (`all epochs`), fewer training items (`3300 samples`), the first targets (`start
# majority`), the number of epochs trained on them (`warm-up 1`), the annotator model (`annotators confusion`), the
# correlation of labels (`correlation 0`), the learning rate schedule (`halving 0`), `no rules`, the rules that
# `suggest_rules` finds in the training labels (`suggested rules`), or weights of rules that held-out labels may lower
# (`learned weights`, the default outside the presets). Rows that begin with `truth` only infer the truth. Rows that
# end with `bilstm-crf` use the BiLSTM-CRF tagger and are beyond the paper.
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
    "cl mw": methods.crowd_layer("MW", pretraining=5),
    "cl vw": methods.crowd_layer("VW", pretraining=5),
    "cl vw-b": methods.crowd_layer("VW-B", pretraining=5),
    "cl mw 1": methods.crowd_layer("MW", pretraining=1),
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
"""Rows that consist of one fit."""

AGGNET_RULE = "aggnet rule"
"""Row with two fits: AggNet infers the truth, then Logic-LNCL applies the rules to it."""

PAPER_VOTE = MajorityVote(ties=Ties.order, order=CONLL_TIES)
"""Majority vote with ties broken in the paper's order."""

TRUTH_ROWS: dict[str, Callable[[int], TruthMethod]] = {
    "truth majority": lambda seed: MajorityVote(ties=Ties.random, seed=seed),
    "truth majority, paper's ties": lambda _: PAPER_VOTE,
    "truth dawid-skene": lambda _: truth_method("dawid-skene"),
    "truth glad": lambda _: truth_method("glad"),
    "truth pm": lambda _: truth_method("pm"),
    "truth catd": lambda _: truth_method("catd"),
    "truth ibcc": lambda _: truth_method("ibcc"),
    "truth bsc-seq": lambda _: truth_method("bsc-seq"),
    "truth hmm-crowd": lambda _: truth_method("hmm-crowd"),
}
"""Rows that only infer the truth, given a random seed. All but the first are deterministic."""

BILSTM_CRF = "bilstm-crf"
"""Suffix of rows with the tagger of `--preset ner` instead of the paper's."""

GOLD_FREE = "gold-free"
"""Prefix of rows that do not use the dev gold."""

ALL_EPOCHS = "all epochs"
"""Option to disable patience; every epoch is then scored on dev and test."""


@dataclass(frozen=True, kw_only=True)
class RowSetup:
    """Setup of a job.

    Attributes:
        name: Name of the method, a key of ROWS or AGGNET_RULE.
        data: The data, with fewer training items if the row says so.
        task: Configuration of the task with the options of the row.
        options: Options of the row.
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
    """Return the names of all rows, without options."""
    return [*ROWS, AGGNET_RULE, *TRUTH_ROWS]


def set_up(job: Job) -> RowSetup:
    """Load the data of a job and apply the options of its row."""
    name, *options = job.row.split(", ")
    if name not in ROWS and name != AGGNET_RULE:
        raise OptionError(
            f"row: unknown row {name!r}.{did_you_mean(name, row_names())} "
            f"Choose one of {name_list(row_names(), most=60)}."
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
    """Apply one option of a row to a task."""
    method = task.method
    classifier: Any = method.classifier
    annotators: Any = method.annotators
    limits = method.limits

    def change(**options: Any) -> tuple[Benchmark, PresetConfiguration]:
        return data, replace(task, method=replace(method, **options))

    match option.split():
        case [size, "samples"]:
            return sample_items(data, int(size), seed=seed), task
        case ["no", "rules"]:
            return data, replace(task, rules=None)
        case ["suggested", "rules"]:  # instead of the rules, and of the table of transitions
            projector = replace(method.projector, preset="paper", transitions=None)
            suggested = suggest_rules(data.labels, data.corpus, seed=seed)
            return data, PresetConfiguration(replace(method, projector=projector), suggested.rules)
        case ["learned", "weights"] if task.rules is not None:
            return change(learn_weights=True)
        case ["start", name]:  # majority vote breaks ties in the paper's order
            return change(start=PAPER_VOTE if name == PAPER_VOTE.name else truth_method(name))
        case ["warm-up", epochs]:
            return change(warm_up=int(epochs))
        case ["annotators", name]:  # with the correlation of the current model
            correlation = getattr(annotators, "correlation", 0.0)
            other = ANNOTATOR_MODELS.create(name)
            return change(annotators=replace(other, correlation=correlation) if correlation else other)
        case ["correlation", correlation]:
            return change(annotators=replace(annotators, correlation=float(correlation)))
        case ["halving", epochs]:
            training = replace(classifier.training, halve_every=int(epochs))
            return change(classifier=replace(classifier, training=training))
        case ["C", strength]:
            return change(projector=replace(method.projector, strength=float(strength)))
        case ["k", imitation]:
            return change(imitation=ConstantImitation(float(imitation)))
        case ["k", "1", "-", power] if power.endswith("^t"):
            return change(imitation=GrowingImitation(float(power.removesuffix("^t"))))
        case ["from", "the", "classifier"]:
            preset = replace(find_preset(method.projector.preset), start=Start.classifier)
            return change(projector=replace(method.projector, preset=preset))
        case _ if option == ALL_EPOCHS:
            held_out = None if limits.held_out is None else replace(limits.held_out, patience=limits.epochs)
            return change(limits=replace(limits, patience=limits.epochs, held_out=held_out))
    raise OptionError(
        f"row: unknown option {option!r}. Options are 'C 2', 'k 0.5', 'k 1 - 0.98^t', 'from the classifier', 'start "
        f"majority', 'warm-up 1', 'annotators confusion', 'correlation 0', 'halving 0', 'no rules', 'suggested rules', "
        f"'learned weights', {ALL_EPOCHS!r} and '3300 samples', with any number or name."
    )


Record = dict[str, Any]
"""Part of a result, as stored in its file."""


def run_job(job: Job) -> Record:
    """Fit a row with a seed and score it."""
    if job.row in TRUTH_ROWS:
        return asdict(job) | _infer(job)
    row = set_up(job)
    begin = time.perf_counter()
    learned = fit_row(row, job.seed)
    seconds = time.perf_counter() - begin
    record = asdict(job) | {"seconds": seconds, "chosen": learned.chosen, "scores": final_scores(learned, row.data)}
    if row.name == "annotators":
        record["annotators"] = annotator_record(learned)
    if learned.refit_history:  # a second fit with all labels
        record["averaged_from"] = learned.averaged_from
        record["refit_history"] = [asdict(epoch) for epoch in learned.refit_history]
    return record | {"history": [asdict(epoch) for epoch in learned.history]}


def fit_row(row: RowSetup, seed: int) -> Learned:
    """Fit the method of a row; `aggnet rule` requires two fits."""
    if row.name == AGGNET_RULE:
        first = _fit(methods.aggnet(row.task, seed), row)
        return _fit(methods.rules_on_estimate(row.task, first.estimate, seed), row)
    return _fit(ROWS[row.name](row.task, seed), row)


def _fit(built: methods.Built, row: RowSetup) -> Learned:
    method, rules = built
    data = row.data
    parts = {"test": data.test, "dev gold": data.dev} if row.scores_every_epoch else {}
    watched = {name: corpus for name, corpus in parts.items() if corpus is not None}
    dev = None if row.is_gold_free else data.dev
    return method.learn(TrainingData(corpus=data.corpus, labels=data.labels, rules=rules, dev=dev, watched=watched))


def _infer(job: Job) -> Record:
    """Score the answers of a truth method; there is no training, so no epoch is chosen."""
    begin = time.perf_counter()
    data, _ = load_task(job.task)
    labels, corpus = align(data.labels, data.corpus)
    answer = TRUTH_ROWS[job.row](job.seed).infer(labels, corpus).answer
    hard = np.eye(labels.n_classes)[np.maximum(answer, 0)]
    scores = {"inference": score_answers(corpus.with_classes(labels.classes), hard)}
    return {"seconds": time.perf_counter() - begin, "chosen": 0, "scores": scores, "history": []}


def final_scores(learned: Learned, data: Benchmark) -> dict[str, dict[str, float]]:
    """Return the scores of the chosen epoch: prediction on test and dev items, inference on training items."""
    found: dict[str, tuple[Corpus, AnyBeliefs]] = {"inference": (learned.task.corpus, learned.epoch.targets)}
    for prefix, corpus in (("", data.test), ("dev ", data.dev)):
        if corpus is not None:
            items = corpus.with_classes(learned.task.labels.classes)
            student = predict(learned.classifier, items)
            found[f"{prefix}student"] = (items, student)
            found[f"{prefix}teacher"] = (items, learned.teacher.project(items, student, student, learned.classifier))
    return {name: score_answers(corpus, beliefs) for name, (corpus, beliefs) in found.items()}


def score_answers(corpus: Corpus, beliefs: AnyBeliefs) -> dict[str, float]:
    """Return accuracy and F1 of the second class; for tags, span precision, recall and F1 under both schemes."""
    answer = answers(beliefs, corpus.offsets)
    if corpus.offsets is None:
        # The second class is the positive class of binary tasks such as spam
        is_gold, is_answer = np.asarray(corpus.gold) == 1, answer == 1
        f1 = 2 * int((is_gold & is_answer).sum()) / max(int(is_gold.sum() + is_answer.sum()), 1)
        return {"accuracy": score(corpus, beliefs), "f1": f1}
    scores: dict[str, float] = {}
    for scheme in Scheme:
        spans = span_scores(np.asarray(corpus.gold), answer, corpus.offsets, corpus.classes, scheme=scheme)
        prefix = "" if scheme is Scheme.conll else "strict "
        scores |= {f"{prefix}precision": spans.precision, f"{prefix}recall": spans.recall, f"{prefix}f1": spans.f1}
    return scores
