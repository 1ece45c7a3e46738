"""Measure shared mistakes: learning from gold, near-copies, ranges, and the default method without gold.

    python -m benchmarks.shared_mistakes [--data DIR] [--sketch FILE] [--seeds 0:20] [--draws 0:40]
                                         [--keep FILE] [--only gold crowds default ranges teams copies speed]

Data. Every folder in DIR/judges with judges.csv or scores.csv (item, annotator, label) and gold.csv (item, label) or
people.csv (item, annotator, label) is a panel: gold is the people's majority, excluding items with ties. Panels with
more than MAX_CLASSES different answers are skipped. If judges use a finer numeric scale than the gold, it is divided
into as many equal parts as there are classes, and the learner also gets the scores; CUTS names panels that are also
evaluated with gold and scores divided into two parts. Every folder in DIR/truth, and sentiment_mturk, is a crowd; every
folder in DIR/weak has labelling functions. CROWDLOGIC_DATA is used if --data is not given.

Design. Gold is drawn with `default_rng(seed).choice` without replacement from the items with gold, one seed per draw;
everything is scored on the other gold items. A size is drawn if it is at most 0.6 of the gold. With --sketch, that
module's `learn_from_gold` gets the same draws, with the beliefs of the vote, EBCC, the ensemble and CATD. Ties count
fractionally for unsupervised methods. The best judge by the same gold is the one with the most right labels on it.

    gold      panels: accuracy and calibration error with 50, 100 and 500 gold items
    crowds    crowds with 100 gold items; sets with fewer than 200 are left out
    default   the pool without gold, compared with the vote and the ensemble
    ranges    coverage of the interval of the number of wrong answers: crowds (leave one out), panels, labelling
              functions, and every set with 100 random gold items
    teams     simulated teams with independent errors: 3 to 9 people, 100 to 2,000 items, 2 to 6 classes, accuracy 0.6
              to 0.95, half of them with up to half of the labels missing; five seeds per seed given. Then forecasts of
              `next` in such teams, beside what came true
    copies    simulated panels of 5 to 12 judges with 2 to 5 copies of one of them, 1,000 items, 2 and 5 classes, with
              and without item difficulty; a copied label is replaced with probability `noise` by a random one (odd
              seeds) or the judge's own (even seeds); and panels without copies
    speed     a million labels of 30 judges, CPU seconds

Design choices were made with seeds 100 and above.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from scipy.optimize import brentq
from sklearn.metrics import adjusted_rand_score

from crowdlogic.confidence.calibration import (
    Assessment,
    Unsupervised,
    assess,
    fit_without_gold,
    infer_calibrated,
    members_to_weigh,
)
from crowdlogic.confidence.expected_accuracy import checked_range
from crowdlogic.confidence.learning_from_gold import gold_problem
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.extensions.paper.benchmarks import data_folder
from crowdlogic.extensions.review.next import annotator_skills, choose_next, gain_range
from crowdlogic.metrics.calibration import calibration_error, tie_credit
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.numerics.logspace import design_effect, temper
from crowdlogic.truth.dependence import with_range
from crowdlogic.truth.ebcc import EBCC
from crowdlogic.truth.near_copies import find_similar
from crowdlogic.truth.pool import TEAMS_CROWDS_PANELS, Ensemble, MethodPool, independent_posterior
from crowdlogic.truth.weighting import CATD

MAX_CLASSES = 12
CUTS = {"relevance": 2}
SIZES = (50, 100, 500)
SECTIONS = ("gold", "crowds", "default", "ranges", "teams", "copies", "speed")


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelledSet:
    """Labels with gold: gold[i] is -1 if unknown; score[n] of each label row if judges have scores."""

    name: str
    labels: CrowdLabels
    gold: Ints
    scores: Floats | None = None
    ordered: bool = False

    @property
    def known(self) -> Ints:
        """Return the units with gold and labels."""
        return np.flatnonzero((self.gold >= 0) & (self.labels.labels_per_unit() > 0))


def print_header(title: str, *columns: str) -> None:
    """Print a title and the head of a table."""
    print(f"\n## {title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}")


def print_row(*cells: Any) -> None:
    """Print a row of a table, with two decimals."""
    print("| " + " | ".join(f"{c:.2f}" if isinstance(c, float) else str(c) for c in cells) + " |", flush=True)


def read(path: Path) -> pl.DataFrame:
    """Read a csv file with types inferred from all rows."""
    return pl.read_csv(path, infer_schema_length=None)


def make_set(
    name: str,
    table: pl.DataFrame,
    gold: dict[Any, int],
    classes: list[Any],
    *,
    label: Ints,
    scores: Floats | None = None,
    ordered: bool = False,
) -> LabelledSet:
    """Return a set from a table of item and annotator, with encoded labels."""
    items = table["item"].unique(maintain_order=True)
    people = table["annotator"].unique().sort()
    unit = table["item"].replace_strict(items, np.arange(len(items)), return_dtype=pl.Int64).to_numpy()
    annotator = table["annotator"].replace_strict(people, np.arange(len(people)), return_dtype=pl.Int64).to_numpy()
    order = np.lexsort((annotator, unit))
    labels = CrowdLabels(
        unit=unit[order],
        annotator=annotator[order],
        label=label[order],
        items=items.cast(pl.String),
        annotators=people.cast(pl.String),
        classes=tuple(classes),
    )
    codes = np.array([gold.get(item, -1) for item in items.to_list()])
    return LabelledSet(
        name=name, labels=labels, gold=codes, scores=None if scores is None else scores[order], ordered=ordered
    )


def load_panels(home: Path) -> Iterator[LabelledSet]:
    """Return all panels of judges whose gold has few classes."""
    for folder in sorted((home / "judges").iterdir()):
        files = [folder / name for name in ("judges.csv", "scores.csv") if (folder / name).is_file()]
        if not files:
            continue
        table = read(files[0]).drop_nulls(["item", "annotator", "label"])
        if (folder / "gold.csv").is_file():
            gold = dict(read(folder / "gold.csv").select("item", "label").iter_rows())
        elif (folder / "people.csv").is_file():
            people = read(folder / "people.csv")
            if people["label"].n_unique() > MAX_CLASSES:
                print(f"{folder.name}: skipped, people give {people['label'].n_unique()} different answers")
                continue
            gold = majority(people)
        else:
            continue
        numeric = table["label"].dtype.is_numeric() and all(isinstance(g, int | float) for g in gold.values())
        truths = sorted(set(gold.values()))
        if len(truths) > MAX_CLASSES:
            print(f"{folder.name}: skipped, its gold has {len(truths)} different values")
            continue
        if not numeric:
            classes = sorted(set(truths) | set(table["label"].to_list()), key=str)
            code = {name: k for k, name in enumerate(classes)}
            label = np.array([code[name] for name in table["label"].to_list()])
            yield make_set(folder.name, table, {i: code[g] for i, g in gold.items()}, classes, label=label)
            continue
        score = table["label"].to_numpy().astype(np.float64)
        given = sorted(set(score))
        if (len(given) > len(truths) and not set(given) <= set(range(int(min(given)), int(max(given)) + 1))) or len(
            given
        ) > 2 * len(truths):
            # A finer scale than that of the gold is divided into equal parts
            least, most = np.quantile(score, [0.001, 0.999])  # without stray grades
            edges = np.linspace(least, most, len(truths) + 1)[1:-1]
            label = np.searchsorted(edges, score, side="left")
            coded = {i: truths.index(g) for i, g in gold.items()}
            yield make_set(folder.name, table, coded, truths, label=label, scores=score, ordered=len(truths) > 2)
        else:
            classes = sorted(set(given) | set(truths))
            coded = {i: classes.index(g) for i, g in gold.items()}
            label = np.searchsorted(classes, score)
            yield make_set(folder.name, table, coded, classes, label=label, scores=score, ordered=len(classes) > 2)
        if folder.name in CUTS:
            cut = CUTS[folder.name]
            coded = {i: int(g >= cut) for i, g in gold.items()}
            label = (score >= cut).astype(np.int64)
            yield make_set(f"{folder.name}, cut", table, coded, [0, 1], label=label, scores=score)


def majority(people: pl.DataFrame) -> dict[Any, Any]:
    """Return the people's majority per item; items with ties are excluded."""
    counts = people.group_by("item", "label").len()
    most = counts.with_columns(best=pl.col("len").max().over("item")).filter(pl.col("len") == pl.col("best"))
    single = most.filter(pl.len().over("item") == 1)
    return dict(single.select("item", "label").iter_rows())


def load_crowds(home: Path) -> Iterator[LabelledSet]:
    """Return all public crowds."""
    folders = [*sorted((home / "truth").iterdir()), home / "sentiment_mturk"]
    for folder in folders:
        if (folder / "labels.csv").is_file() and (folder / "gold.csv").is_file():
            table, gold = (
                read(folder / "labels.csv"),
                dict(read(folder / "gold.csv").select("item", "label").iter_rows()),
            )
            classes = sorted(set(table["label"].to_list()) | set(gold.values()), key=lambda c: (str(type(c)), c))
            code = {name: k for k, name in enumerate(classes)}
            label = np.array([code[name] for name in table["label"].to_list()])
            yield make_set(folder.name, table, {i: code[g] for i, g in gold.items()}, classes, label=label)


def load_functions(home: Path) -> Iterator[LabelledSet]:
    """Return all sets of labelling functions; -1 abstains."""
    for folder in sorted((home / "weak").iterdir()):
        parts = [
            read(f).with_columns(item=pl.lit(f.stem + " ") + pl.col("item").cast(pl.String))
            for f in sorted(folder.glob("*.csv"))
        ]
        if not parts:
            continue
        wide = pl.concat(parts)
        names = [c for c in wide.columns if c.startswith("lf")]
        long = wide.select("item", *names).unpivot(names, index="item", variable_name="annotator", value_name="vote")
        long = long.filter(pl.col("vote") >= 0)
        classes = sorted(set(wide["label"].to_list()) | set(long["vote"].to_list()))
        label = np.searchsorted(classes, long["vote"].to_numpy())
        gold = {i: classes.index(g) for i, g in wide.select("item", "label").iter_rows()}
        yield make_set(folder.name, long, gold, classes, label=label)


class Cache:
    """Cache of fits that several sections use."""

    def __init__(self) -> None:
        self.fits: dict[str, Unsupervised] = {}
        self.peers: dict[str, dict[str, Floats]] = {}

    def fit(self, one: LabelledSet) -> Unsupervised:
        """Return the fit without gold."""
        if one.name not in self.fits:
            fit = fit_without_gold(one.labels)
            self.fits[one.name] = replace(fit, taught=members_to_weigh(fit))
        return self.fits[one.name]

    def ensemble(self, one: LabelledSet) -> Floats:
        """Return the beliefs of the ensemble."""
        kept = self.peers.setdefault(one.name, {})
        if "ensemble" not in kept:
            kept["ensemble"] = Ensemble().infer(one.labels).beliefs
        return kept["ensemble"]

    def for_sketch(self, one: LabelledSet) -> list[Floats]:
        """Return the beliefs that the sketch expects."""
        kept = self.peers.setdefault(one.name, {})
        if "ebcc" not in kept:
            kept["ebcc"], kept["catd"] = EBCC().infer(one.labels).beliefs, CATD().infer(one.labels).beliefs
        return [vote_shares_of(one), kept["ebcc"], self.ensemble(one), kept["catd"]]


def vote_shares_of(one: LabelledSet) -> Floats:
    """Return the vote shares."""
    votes = one.labels.votes()
    total = votes.sum(axis=1, keepdims=True)
    return np.asarray(np.where(total > 0, votes / np.maximum(total, 1e-9), 1.0 / votes.shape[1]))


def accuracy(gold: Ints, beliefs: Floats) -> float:
    """Return the accuracy in percent; ties count fractionally."""
    return 100 * float(tie_credit(gold, beliefs).mean())


def draw(one: LabelledSet, size: int, seed: int) -> tuple[Ints, Ints]:
    """Return random gold as an array over all units, and the other known units."""
    chosen = np.random.default_rng(seed).choice(one.known, size, replace=False)
    gold = np.full(len(one.gold), -1)
    gold[chosen] = one.gold[chosen]
    return gold, np.setdiff1d(one.known, chosen)


def best_judge(one: LabelledSet, gold: Ints, rest: Ints) -> float:
    """Return the accuracy on the rest of the judge that is best on the gold; unlabelled items count as wrong."""
    labels, size = one.labels, len(one.labels.annotators)

    def right(truth: Ints) -> Floats:
        hit = truth[labels.unit] == labels.label
        return np.bincount(labels.annotator[hit], minlength=size).astype(np.float64)

    others = np.full(len(gold), -1)
    others[rest] = one.gold[rest]
    best = int((right(gold) + 1e-6 * labels.labels_per_annotator()).argmax())
    return 100 * float(right(others)[best]) / len(rest)


class KeptRows:
    """Results of single draws in a file, one JSON line each, so that an interrupted run can continue."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        lines = path.read_text().splitlines() if path is not None and path.is_file() else []
        self.rows: dict[str, list[float] | None] = {json.dumps(key): row for key, row in map(json.loads, lines)}

    def find(self, key: list[Any], compute: Callable[[], list[float] | None]) -> list[float] | None:
        """Return the row stored under a key, or compute and store it."""
        name = json.dumps(key)
        if name not in self.rows:
            self.rows[name] = compute()
            if self.path is not None:
                with self.path.open("a") as file:
                    file.write(json.dumps([key, self.rows[name]]) + "\n")
        return self.rows[name]


def score_draw(one: LabelledSet, size: int, seed: int, *, cache: Cache, sketch: Any) -> list[float] | None:
    """Return the scores of learning from one draw of gold; None if nothing can be learnt from it."""
    gold, rest = draw(one, size, seed)
    if gold_problem(gold, one.labels.n_classes):
        return None
    # The learner, with exactly the input of a user
    found = assess(one.labels, fit=cache.fit(one), gold=gold, scores=one.scores, ordered=one.ordered)
    truth, mine = one.gold[rest], found.estimate.beliefs[rest]
    theirs = run_sketch(sketch, one, cache, gold)[rest] if sketch else np.full_like(mine, np.nan)
    return [
        accuracy(truth, mine),
        accuracy(truth, theirs) if sketch else np.nan,
        100 * calibration_error(truth, mine),
        100 * calibration_error(truth, theirs) if sketch else np.nan,
        accuracy(truth, vote_shares_of(one)[rest]),
        best_judge(one, gold, rest),
        accuracy(truth, cache.ensemble(one)[rest]),
        float(interval_holds(found, truth, rest)),
    ]


def interval_holds(found: Assessment, truth: Ints, rest: Ints) -> bool:
    """Return whether the exact interval contains the number of wrong answers among the other items with gold.

    The interval is for these items, since gold of further items is unknown and the share of wrong answers among them
    would itself be an estimate.
    """
    if found.learnt is None:
        return False
    wrong = int(np.count_nonzero(found.estimate.answer[rest] != truth))
    low, high = checked_range(found.learnt.mistakes, len(found.learnt.truth), len(rest))
    return low <= wrong <= high


def gold_table(
    sets: list[LabelledSet],
    sizes: tuple[int, ...],
    draws: range,
    cache: Cache,
    sketch: Any,
    *,
    title: str,
    kept: KeptRows,
) -> None:
    """Print accuracy and calibration error with gold, one row per cell, with judge and vote on the same draws."""
    columns = ("set", "gold", "accuracy", "sketch", "difference", "calibration error", "sketch's", "vote", "judge")
    print_header(title, *columns, "ensemble", "interval holds")
    cells = []
    for one in sets:
        for size in sizes:
            if size > 0.6 * len(one.known):
                continue
            scored = (
                kept.find(
                    [title, one.name, size, seed, sketch is not None],
                    partial(score_draw, one, size, seed, cache=cache, sketch=sketch),
                )
                for seed in draws
            )
            rows = np.array([row for row in scored if row is not None], dtype=np.float64)
            if not len(rows):
                continue
            mean = np.mean(rows, axis=0)
            cells.append((size, mean))
            print_row(one.name, size, *mean[:2].tolist(), float(mean[0] - mean[1]), *mean[2:].tolist())
    values = np.array([mean for _, mean in cells])
    means = dict(
        zip(
            ("own", "sketch", "cal", "cal_sketch", "vote", "judge", "ensemble", "holds"),
            values.mean(axis=0),
            strict=True,
        )
    )
    print("\nMean over {} cells: {own:.2f}, sketch {sketch:.2f}, vote {vote:.2f}, ".format(len(cells), **means), end="")
    print("ensemble {ensemble:.2f}; calibration error {cal:.2f}, sketch {cal_sketch:.2f}.".format(**means))
    worst_sketch, worst_vote = (values[:, 0] - values[:, 1]).min(), (values[:, 0] - values[:, 4]).min()
    print(f"Worst difference to the sketch {worst_sketch:+.2f}, to the vote {worst_vote:+.2f}.")
    own, judge, vote_100 = np.mean([mean[[0, 5, 4]] for size, mean in cells if size == 100], axis=0)
    print(f"With 100 gold items: {own:.2f}, judge picked by the same gold {judge:.2f}, vote {vote_100:.2f}.")


def run_sketch(sketch: Any, one: LabelledSet, cache: Cache, gold: Ints) -> Floats:
    """Return the sketch's posterior on the same draw."""
    labels = one.labels
    shape = (labels.n_units, len(labels.annotators))
    table = np.full(shape, -1)
    table[labels.unit, labels.annotator] = labels.label
    scores = None
    if one.scores is not None:
        scores = np.full(shape, np.nan)
        scores[labels.unit, labels.annotator] = one.scores
    chosen = np.flatnonzero(gold >= 0)
    return np.asarray(
        sketch.learn_from_gold(table, labels.n_classes, cache.for_sketch(one), chosen, gold[chosen], scores)
    )


def default_table(panels: list[LabelledSet], crowds: list[LabelledSet], cache: Cache) -> None:
    """Print the pool without gold, compared with the vote and the ensemble."""
    columns = ("set", "items with gold", "vote", "ensemble", "pool", "pool - vote", "calibration error")
    print_header("Without gold", *columns, "pairs above", "effective votes")
    for kind, sets in (("panels", panels), ("crowds", crowds)):
        rows = []
        for one in sets:
            fit, truth = cache.fit(one), one.gold[one.known]
            pool = fit.estimate.beliefs[one.known]
            row = [accuracy(truth, q[one.known]) for q in (vote_shares_of(one), cache.ensemble(one))] + [
                accuracy(truth, pool)
            ]
            rows.append((*row, row[2] - row[0], 100 * calibration_error(truth, pool)))
            votes = f"{fit.residuals.effective_votes:.1f} of {len(one.labels.annotators)}"
            print_row(one.name, len(truth), *rows[-1], fit.residuals.share, votes)
        mean = np.mean(rows, axis=0)
        print_row(
            f"**{kind}**", "", *mean[:3].tolist(), f"worst {min(r[3] for r in rows):+.2f}", float(mean[4]), "", ""
        )


def needed_correlation(one: LabelledSet, fit: Unsupervised) -> float:
    """Return the correlation under which the expected number of mistakes equals the true number."""
    votes = fit.merged.votes()
    own, n = independent_posterior(fit.members, votes)[one.known], votes[one.known].sum(axis=1)
    answer = fit.estimate.answer[one.known]
    wrong = float(np.mean(answer != one.gold[one.known]))

    def off(correlation: float) -> float:
        q = temper(np.maximum(own, 1e-12), 1.0 / design_effect(n, correlation))
        return float(1.0 - q[np.arange(len(q)), answer].mean()) - wrong

    return float(brentq(off, 0.0, 20.0)) if off(0.0) < 0 < off(20.0) else (0.0 if off(0.0) >= 0 else 20.0)


def ranges_table(
    panels: list[LabelledSet], crowds: list[LabelledSet], functions: list[LabelledSet], draws: range, cache: Cache
) -> None:
    """Print the coverage of the intervals of the number of wrong answers."""
    columns = ("set", "correlation needed", "low", "high", "wrong", "holds", "with 100 gold")
    print_header("Ranges without gold, and with 100 random gold items", *columns)
    needed = {one.name: needed_correlation(one, cache.fit(one)) for one in crowds}
    for kind, sets in (("crowd", crowds), ("panel", panels), ("functions", functions)):
        for one in sets:
            fit, units = cache.fit(one), one.known
            answer, truth = fit.estimate.answer[units], one.gold[units]
            wrong = int(np.count_nonzero(answer != truth))
            correlation = 1.0
            if (
                kind == "crowd" and len(crowds) > 2
            ):  # the value that the other crowds need, plus two standard deviations
                others = [value for name, value in needed.items() if name != one.name]
                correlation = min(max(others) + 2.0 * float(np.std(others, ddof=1)), 1.0)
            votes = fit.merged.votes()
            own, n = independent_posterior(fit.members, votes)[units], votes[units].sum(axis=1)
            shared = temper(np.maximum(own, 1e-12), 1.0 / design_effect(n, correlation))
            ends = np.stack([1.0 - q[np.arange(len(units)), answer] for q in (own, shared)], axis=1)
            found = with_range(TEAMS_CROWDS_PANELS.with_alpha(0.0), ends)
            fewest, most = found.fewest_wrong or 0.0, found.most_wrong or 0.0
            low, high = (f"{fewest:.0f}", f"{most:.0f}") if fit.sign is None else ("none", "none")
            holds = "-" if fit.sign else ("yes" if fewest <= wrong <= most else "NO")
            covered: list[bool] = []
            for seed in draws if 0.6 * len(units) >= 100 else ():
                gold, rest = draw(one, 100, seed)
                if gold_problem(gold, one.labels.n_classes) is None:
                    checked = assess(one.labels, fit=fit, gold=gold, scores=one.scores, ordered=one.ordered)
                    covered.append(interval_holds(checked, one.gold[rest], rest))
            need = needed.get(one.name, needed_correlation(one, fit))
            share = f"{np.mean(covered):.2f}" if covered else ""
            print_row(one.name, need, low, high, f"{wrong} of {len(units)}", holds, share)
    values = list(needed.values())
    print(
        f"\nCorrelation needed by crowds: at most {max(values):.2f}, standard deviation {np.std(values, ddof=1):.2f}."
    )


def code_matrix(table: Ints, n_classes: int) -> CrowdLabels:
    """Return labels from table[i, j], which is -1 where there is no label."""
    unit, annotator = np.nonzero(table >= 0)
    return CrowdLabels(
        unit=unit,
        annotator=annotator,
        label=table[unit, annotator],
        items=pl.Series(np.arange(len(table)).astype(str)),
        annotators=pl.Series([f"judge {j}" for j in range(table.shape[1])]),
        classes=tuple(range(n_classes)),
    )


def other_class(rng: np.random.Generator, truth: Ints, n_classes: int) -> Ints:
    """Return a random wrong class."""
    return (truth + rng.integers(1, n_classes, size=len(truth))) % n_classes


@dataclass(frozen=True, eq=False, kw_only=True)
class Team:
    """A small team with independent errors: the truth of each item, and everybody's accuracy."""

    truth: Ints
    skill: Floats
    n_classes: int

    def label_all(self, rng: np.random.Generator) -> Ints:
        """table[i, j], a label of everybody for each item."""
        items, truth = len(self.truth), self.truth
        given = [np.where(rng.random(items) < s, truth, other_class(rng, truth, self.n_classes)) for s in self.skill]
        return np.stack(given, axis=1)


def simulate_team(rng: np.random.Generator) -> Team:
    """A team of 3 to 9 people, 100 to 2,000 items and 2 to 6 classes."""
    people, items = int(rng.integers(3, 10)), int(np.exp(rng.uniform(np.log(100), np.log(2000))))
    n_classes = int(rng.integers(2, 7))
    truth, skill = rng.integers(n_classes, size=items), rng.uniform(0.6, 0.95, people)
    return Team(truth=truth, skill=skill, n_classes=n_classes)


def team_labels(seed: int) -> tuple[CrowdLabels, Ints, Floats]:
    """The labels of a team, of which odd seeds lack up to a half; the truth of labelled items, and the accuracies."""
    rng = np.random.default_rng(seed)
    team = simulate_team(rng)
    table, truth = team.label_all(rng), team.truth
    if seed % 2:
        table[rng.random(table.shape) < rng.uniform(0, 0.5)] = -1
    truth = np.where((table >= 0).any(axis=1), truth, -1)
    return code_matrix(table, team.n_classes), truth, team.skill


def teams_table(seeds: range) -> None:
    """Print the coverage in teams with independent errors, without gold and with 30 and 100 items."""
    columns = ("gold", "teams", "wrong answers: holds", "reliability: holds", "its median width", "range given")
    print_header("Teams with independent errors", *columns, "accuracy")
    rows: dict[int, list[list[float]]] = {0: [], 30: [], 100: []}
    for seed in seeds:
        labels, truth, skill = team_labels(seed)
        one, fit = LabelledSet(name=str(seed), labels=labels, gold=truth), fit_without_gold(labels)
        for size, values in rows.items():
            if size > 0.6 * len(one.known):
                continue
            gold, rest = draw(one, size, seed)
            found = assess(labels, fit=fit, gold=gold if size else None)
            wrong = np.count_nonzero(found.estimate.answer[rest] != truth[rest])
            left = found.mistakes
            low, high = found.reliability_range
            inside = (low <= skill) & (skill <= high)
            values.append([
                float(left is not None and left[0] - 1 <= wrong <= left[1] + 1), float(inside.mean()),
                float(np.median(high - low)), float(left is not None),
                100 * (1 - wrong / len(rest)),
            ])  # fmt: skip
    for size, values in rows.items():
        print_row(size, len(values), *np.mean(values, axis=0).tolist())


def forecast_gain(seed: int, share: float) -> list[float] | None:
    """What a batch of labels is forecast to correct in a team, and what it corrects; None without a forecast.

    Each label is known with probability 0.5, and at least one label of each item. `next` plans labels, as many as a
    share of the items. What comes true is the mean over five draws of these labels.
    """
    rng = np.random.default_rng(seed)
    team = simulate_team(rng)
    table, items = team.label_all(rng), len(team.truth)
    known = rng.random(table.shape) < 0.5
    known[np.arange(items), rng.integers(len(team.skill), size=items)] = True
    table[~known] = -1
    labels = code_matrix(table, team.n_classes)
    estimate = infer_calibrated(MethodPool(), labels)
    skills = annotator_skills(labels, estimate)
    batch = choose_next(labels, estimate, skills, count=max(round(share * items), 1))
    ends = gain_range(labels, estimate, skills, batch)
    if ends is None:
        return None
    before, removed = np.count_nonzero(estimate.answer != team.truth), []
    for _ in range(5):
        table[batch.item, batch.annotator] = team.label_all(rng)[batch.item, batch.annotator]
        after = infer_calibrated(MethodPool(), code_matrix(table, team.n_classes))
        removed.append(before - np.count_nonzero(after.answer != team.truth))
    return [*ends, batch.total, float(np.mean(removed)), float(before)]


def forecasts_table(seeds: range) -> None:
    """Forecasts of `next` in the same kind of teams beside what came true."""
    print_header(
        "Forecasts in teams with independent errors: mistakes that further labels correct, all teams together",
        *("labels per item", "teams", "no forecast", "mistakes before", "came true", "if independent", "ratio"),
        *("if shared", "ratio", "between (pooled)", "ratio", "median ratio, independent, five or more corrected"),
    )
    for share in (0.25, 1.0):
        found = [forecast_gain(seed, share) for seed in seeds]
        rows = np.array([row for row in found if row is not None])
        independent, shared, pooled, true, before = rows.sum(axis=0).tolist()
        enough = rows[rows[:, 3] >= 5]
        print_row(
            share, len(rows), len(found) - len(rows), before, true, independent, independent / true, shared,
            shared / true, pooled, pooled / true, float(np.median(enough[:, 0] / enough[:, 3])),
        )  # fmt: skip


def simulate_panel(
    rng: np.random.Generator, *, n_classes: int, copies: bool, noise: float, difficulty: bool, own: bool
) -> tuple[Ints, Ints, Ints]:
    """Return a panel: table[i, j], truth[i], and family[j] (for copies, the number of the copied judge)."""
    items, judges = 1000, int(rng.integers(5, 13))
    truth = rng.integers(n_classes, size=items)
    decoy, hard = other_class(rng, truth, n_classes), rng.normal(0, 1.2, items) * difficulty
    table = np.empty((items, judges), dtype=np.int64)
    for j, ability in enumerate(rng.uniform(0.2, 1.7, judges)):
        wrong = np.where(rng.random(items) < (0.6 if difficulty else 0.0), decoy, other_class(rng, truth, n_classes))
        table[:, j] = np.where(rng.random(items) < 1 / (1 + np.exp(-(ability + hard))), truth, wrong)
    family = np.arange(judges)
    if copies:
        alike = rng.permutation(judges)[: int(rng.integers(2, min(5, judges - 1) + 1))]
        for j in alike[1:]:
            instead = table[:, j].copy() if own else rng.integers(n_classes, size=items)
            table[:, j] = np.where(rng.random(items) < noise, instead, table[:, alike[0]])
        family[alike] = alike.min()
    return table, truth, family


def copies_table(seeds: range) -> None:
    """Print how well planted copies are detected, and how much accuracy they cost."""
    columns = ("classes", "difficulty", "noise", "adjusted Rand index", "merged exactly", "vote", "ensemble", "pool")
    print_header("Planted copies", *columns, "copies removed by hand")
    found_all, lost = [], []
    for n_classes in (2, 5):
        for difficulty in (False, True):
            for noise in (0.0, 0.1, 0.2, 0.3):
                rows = []
                for seed in seeds:
                    table, truth, family = simulate_panel(
                        np.random.default_rng(seed),
                        n_classes=n_classes,
                        copies=True,
                        noise=noise,
                        difficulty=difficulty,
                        own=seed % 2 == 0,
                    )
                    labels = code_matrix(table, n_classes)
                    fit = fit_without_gold(labels)
                    by_hand = fit_without_gold(
                        code_matrix(table[:, np.unique(family, return_index=True)[1]], n_classes)
                    ).estimate.beliefs
                    votes = vote_shares_of(LabelledSet(name="", labels=labels, gold=truth))
                    rows.append(
                        [
                            adjusted_rand_score(family, fit.similarity.family),
                            adjusted_rand_score(family, fit.similarity.group) > 0.99,
                        ]
                        + [
                            accuracy(truth, q)
                            for q in (votes, Ensemble().infer(labels).beliefs, fit.estimate.beliefs, by_hand)
                        ]
                    )
                mean = np.mean(rows, axis=0)
                found_all.append(mean[0])
                if noise <= 0.1:
                    lost.append(mean[5] - mean[4])
                print_row(n_classes, difficulty, noise, *mean.tolist())
    print(f"\nMean adjusted Rand index {np.mean(found_all):.3f}. With noise up to 0.1, answers lose", end=" ")
    print(f"{np.mean(lost):.2f} points to the panel with copies removed by hand.")
    false, loss = [], []
    for n_classes in (2, 5):
        for difficulty in (False, True):
            for seed in seeds:
                table, truth, _ = simulate_panel(
                    np.random.default_rng(1000 + seed),
                    n_classes=n_classes,
                    copies=False,
                    noise=0.0,
                    difficulty=difficulty,
                    own=False,
                )
                labels = code_matrix(table, n_classes)
                fit = fit_without_gold(labels)
                false.append(fit.similarity.has_copies)
                if fit.similarity.has_copies:
                    pooled = MethodPool().infer(labels).beliefs
                    loss.append(accuracy(truth, pooled) - accuracy(truth, fit.estimate.beliefs))
    print(f"Without copies: {100 * np.mean(false):.1f} % of {len(false)} panels have a false near-copy;", end=" ")
    print(f"the worst loss is {max(loss, default=0.0):.2f} points.")


def crowd_copies(crowds: list[LabelledSet], cache: Cache) -> None:
    """Print the near-copies found in public crowds."""
    with_copies = [one.name for one in crowds if cache.fit(one).similarity.has_copies]
    print(f"Public crowds with near-copies: {', '.join(with_copies) or 'none'} of {len(crowds)}.")


def speed_table() -> None:
    """Print CPU seconds for a million labels of 30 judges."""
    rng = np.random.default_rng(0)
    items, judges, n_classes = 33_334, 30, 5
    truth = rng.integers(n_classes, size=items)
    table = np.stack(
        [
            np.where(rng.random(items) < s, truth, other_class(rng, truth, n_classes))
            for s in rng.uniform(0.4, 0.7, judges)
        ],
        axis=1,
    )
    labels, gold = code_matrix(table, n_classes), np.full(items, -1)
    gold[rng.choice(items, 500, replace=False)] = 0
    gold = np.where(gold == 0, truth, -1)
    small = labels.take_items(np.arange(500))
    assess(
        small,
        gold=gold[:500] if (gold[:500] >= 0).sum() > 20 else np.where(np.arange(500) < 50, truth[:500], -1),
        ordered=True,
    )
    Ensemble().infer(small)
    title = f"Speed: {labels.n_labels:,} labels of {judges} judges"
    print_header(title, "what", "CPU seconds", "seconds")
    for name, run in (
        ("ensemble", lambda: Ensemble().infer(labels)),
        ("pool", lambda: MethodPool().infer(labels)),
        ("near-copies", lambda: find_similar(labels)),
        ("everything, without gold", lambda: assess(labels)),
        ("everything, 500 gold items", lambda: assess(labels, gold=gold)),
        ("everything, 500 gold items, ordered", lambda: assess(labels, gold=gold, ordered=True)),
    ):
        cpu, wall = time.process_time(), time.perf_counter()
        run()
        print_row(name, time.process_time() - cpu, time.perf_counter() - wall)


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder of the data sets; CROWDLOGIC_DATA if not given")
    parser.add_argument("--sketch", type=Path, help="module with a function learn_from_gold, for comparison")
    parser.add_argument("--seeds", default="0:20", help="seeds of simulated teams and panels, FIRST:LAST")
    parser.add_argument("--draws", default="0:40", help="seeds of the random gold, FIRST:LAST")
    parser.add_argument(
        "--keep", type=Path, help="file for the results of draws, from which an interrupted run continues"
    )
    parser.add_argument("--only", nargs="*", choices=SECTIONS, default=SECTIONS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    home, cache = data_folder(options.data), Cache()
    seeds, draws = (range(*map(int, given.split(":"))) for given in (options.seeds, options.draws))
    sketch = None
    if options.sketch is not None:
        spec = importlib.util.spec_from_file_location("sketch", options.sketch)
        if spec is None or spec.loader is None:
            parser.error(f"--sketch: expected a Python file, got {options.sketch}")
        sketch = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sketch)
    kept = KeptRows(options.keep)
    panels = list(load_panels(home)) if (home / "judges").is_dir() else []
    crowds = list(load_crowds(home)) if (home / "truth").is_dir() else []
    functions = list(load_functions(home)) if (home / "weak").is_dir() else []
    if "default" in options.only:
        default_table(panels, crowds, cache)
        crowd_copies(crowds, cache)
    if "ranges" in options.only:
        ranges_table(panels, crowds, functions, draws, cache)
    if "teams" in options.only:
        teams = range(seeds.start, seeds.start + 5 * len(seeds))
        teams_table(teams)
        forecasts_table(teams)
    if "copies" in options.only:
        copies_table(seeds)
    if "speed" in options.only:
        speed_table()
    if "crowds" in options.only and crowds:
        gold_table(
            [one for one in crowds if len(one.known) >= 200],
            (100,),
            draws,
            cache,
            sketch,
            title="Crowds with gold",
            kept=kept,
        )
    if "gold" in options.only and panels:
        gold_table(panels, SIZES, draws, cache, sketch, title="Panels with gold", kept=kept)


if __name__ == "__main__":
    main()
