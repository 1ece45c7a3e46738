"""Runs of the experiments: tasks, rows of the tables, fitting and scoring with a random seed."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import predict
from crowdlogic.data.chain_beliefs import AnyBeliefs, answers
from crowdlogic.data.corpus import UNKNOWN, Corpus, align
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import Simulation, simulate_ner, simulate_sentiment
from crowdlogic.data.tagging import Scheme
from crowdlogic.data.vectors import WordVectors, concatenate_vectors, read_vectors
from crowdlogic.errors import OptionError, did_you_mean, name_list
from crowdlogic.extensions.paper import methods
from crowdlogic.extensions.paper.benchmarks import Benchmark, data_folder, load_benchmark
from crowdlogic.extensions.paper.jobs import Job
from crowdlogic.extensions.paper.methods import with_imitation
from crowdlogic.extensions.paper.published import QUICK
from crowdlogic.learning.algorithm import ConstantImitation, GrowingImitation, LogicLNCL
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.method import TrainingData
from crowdlogic.learning.presets import CONLL_TIES, PAPER, READINGS, PresetConfiguration, ner, sentiment
from crowdlogic.learning.rule_suggestions import suggest_rules
from crowdlogic.learning.task import score
from crowdlogic.learning.training import HistoryRow
from crowdlogic.metrics.spans import span_scores
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.registry import CLASSIFIERS
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
            for j, items in enumerate(_items_per_annotator(labels))
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


def _items_per_annotator(labels: CrowdLabels) -> Ints:
    """Return items[j], the number of items that an annotator labelled."""
    _, annotator, _ = labels.annotations()
    return np.bincount(annotator, minlength=len(labels.annotators))


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
        case ["sentiment"]:
            return _sentiment("clean")
        case ["sentiment", split]:
            return _sentiment(split)
        case ["ner"]:
            return _ner(variant or None)
        case ["weak", name]:
            return _weak(name, variant)
        case ["labelme"]:
            return _labelme()
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


@cache
def _sentiment_data(split: str) -> Benchmark:
    return load_benchmark("sentiment_mturk", split=split)


@cache
def _both_vectors() -> WordVectors:
    """Return GloVe and word2vec vectors, concatenated."""
    return concatenate_vectors(*(read_vectors(path) for path in sorted((data_folder() / "vectors").glob("*.npz"))))


@cache
def _glove() -> WordVectors:
    return read_vectors(next(iter(sorted((data_folder() / "vectors").glob("*glove*.npz")))))


@cache
def _load_cached(name: str) -> Benchmark:
    return load_benchmark(name)


def _sentiment(split: str) -> tuple[Benchmark, PresetConfiguration]:
    network = CLASSIFIERS.load("kim-cnn")(vectors=_both_vectors())
    return _sentiment_data(split), sentiment(network, reading=PAPER)


def _ner(reading: str | None) -> tuple[Benchmark, PresetConfiguration]:
    data = _load_cached("ner_conll_mturk")
    return data, ner(CLASSIFIERS.load("cnn-gru")(vectors=_glove()), data.labels.classes, reading=reading)


def _weak(name: str, model: str) -> tuple[Benchmark, PresetConfiguration]:
    """Load a task of weak supervision; kim-cnn uses the word vectors of the sentiment task."""
    if model not in ("", *WEAK_MODELS):
        raise OptionError(f"row: the task weak-{name} has no option {model!r}. Choose one of {name_list(WEAK_MODELS)}.")
    data = _load_cached(f"weak/{name}")
    if model == "kim-cnn":
        return data, replace(sentiment(CLASSIFIERS.load(model)(vectors=_both_vectors())), rules=None)
    return data, PresetConfiguration(LogicLNCL(Linear()), None)


def _labelme() -> tuple[Benchmark, PresetConfiguration]:
    return _load_cached("truth/labelme"), PresetConfiguration(LogicLNCL(CLASSIFIERS.load("mlp")()), None)


def _quick(kind: str, reading: str | None) -> tuple[Benchmark, PresetConfiguration]:
    """Return a small simulated task with a small network."""
    made = _simulate(kind, QUICK_ITEMS[kind])
    if kind == "sentiment":
        network = CLASSIFIERS.load("kim-cnn")(windows=(2, 3), filters=16, vector_size=24)
    else:
        network = CLASSIFIERS.load("cnn-gru")(filters=32, hidden_size=24, vector_size=24)
    training = replace(network.training, batch_size=QUICK_BATCH, learning_rate=QUICK_RATE[kind])
    small = replace(network, training=training)
    classes = made.labels.classes
    base = sentiment(small, reading=PAPER) if kind == "sentiment" else ner(small, classes, reading=reading)
    method = replace(base.method, limits=replace(base.method.limits, epochs=QUICK_EPOCHS))
    # k(t) counts the paper's epochs, which have about four times as many gradient steps as those here. Unchanged, it
    # gives the rules almost half of the weight while the network has not found a single entity; and as the rules of
    # tags correct the network's own predictions, the targets lose their entities, too. So k grows per gradient step
    # as it does on the paper's data.
    schedule = method.imitation
    if isinstance(schedule, GrowingImitation):
        steps = QUICK_ITEMS[kind] / QUICK_BATCH
        schedule = replace(schedule, base=schedule.base ** (steps / PAPER_STEPS[kind]))
    return _as_benchmark(made), replace(base, method=with_imitation(method, schedule))


@cache
def _simulate(kind: str, items: int) -> Simulation:
    simulate = simulate_sentiment if kind == "sentiment" else simulate_ner
    return simulate(0, items=items, test_items=items, labels_per_item=4)


def _as_benchmark(made: Simulation) -> Benchmark:
    """Convert a simulation; half of the unlabelled items become dev, half test."""
    if made.test is None:
        raise OptionError(f"{made.name} has no items to test with.")
    dev, test = made.test.split(len(made.test.items) // 2, seed=0)
    return Benchmark(name=f"simulated {made.name}", labels=made.labels, corpus=made.corpus, dev=dev, test=test)


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
    match option.split():
        case [size, "samples"]:
            return sample_items(data, int(size), seed=seed), task
        case ["no", "rules"]:
            return data, PresetConfiguration(task.method, None)
        case ["suggested", "rules"]:
            return data, _with_suggested_rules(task, data, seed=seed)
        case ["learned", "weights"] if task.rules is not None:
            return data, replace(task, method=replace(task.method, learn_weights=True))
        case ["start" | "warm-up" | "annotators" | "correlation" | "halving" as what, value]:
            return data, replace(task, method=_change_part(task.method, what, value))
    return data, replace(task, method=_change_reading(task.method, option))


def _with_suggested_rules(task: PresetConfiguration, data: Benchmark, *, seed: int) -> PresetConfiguration:
    """Replace the rules, and the table of transitions, by rules suggested from the training labels."""
    suggested = suggest_rules(data.labels, data.corpus, seed=seed)
    projector = replace(task.method.projector, preset="paper", transitions=None)
    return PresetConfiguration(replace(task.method, projector=projector), suggested.rules)


def _change_part(method: methods.TaskMethod, what: str, value: str) -> methods.TaskMethod:
    """Change a part of the tagger of `--preset ner`."""
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
    """Change the strength, imitation or start of the rules, or disable patience."""
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
    return record | _history_records(learned)


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


def _history_records(learned: Learned) -> Record:
    """Return the epochs, including those of a second fit with all labels, if any."""
    records: Record = {}
    if learned.refit_history:
        records["averaged_from"] = learned.averaged_from
        records["refit_history"] = [_epoch_record(epoch) for epoch in learned.refit_history]
    return records | {"history": [_epoch_record(epoch) for epoch in learned.history]}


def _epoch_record(epoch: HistoryRow) -> Record:
    """Return an epoch for result files, whose names are stable even if fields are renamed."""
    return {
        "epoch": epoch.epoch,
        "loss": epoch.loss,
        "k": epoch.k,
        "stopping": epoch.stopping,
        "change": epoch.change,
        "objective": epoch.objective,
        "seconds": epoch.seconds,
        "scores": dict(epoch.scores),
        "kept": epoch.kept,
        "refit": epoch.refit,
    }


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
        return {"accuracy": score(corpus, beliefs), "f1": _second_class_f1(np.asarray(corpus.gold), answer)}
    scores: dict[str, float] = {}
    for scheme in Scheme:
        spans = span_scores(np.asarray(corpus.gold), answer, corpus.offsets, corpus.classes, scheme=scheme)
        prefix = "" if scheme is Scheme.conll else "strict "
        scores |= {f"{prefix}precision": spans.precision, f"{prefix}recall": spans.recall, f"{prefix}f1": spans.f1}
    return scores


def _second_class_f1(gold: Ints, answer: Ints) -> float:
    """Return the F1 of the second class, the positive class of binary tasks such as spam."""
    right = int(((gold == 1) & (answer == 1)).sum())
    return 2 * right / max(int((gold == 1).sum() + (answer == 1).sum()), 1)
