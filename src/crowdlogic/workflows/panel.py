"""Assess a panel of judges: effective votes, near-copies, and accuracy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.confidence.alternative_annotator import AlternativeAnnotator, alternative_annotator_test
from crowdlogic.confidence.calibration import Assessment, assess
from crowdlogic.confidence.expected_accuracy import binomial_interval, describe_mistakes, expected_accuracy
from crowdlogic.data.corpus import UNKNOWN
from crowdlogic.data.estimate import Answers
from crowdlogic.data.files import STANDARD_STREAM
from crowdlogic.data.intake.columns import find_roles
from crowdlogic.data.labels import CrowdLabels, find_codes
from crowdlogic.data.names import as_text, find
from crowdlogic.data.reading import read_table, write_estimate
from crowdlogic.data.wording import list_names, percent, pluralise, pluralise_votes
from crowdlogic.errors import DataError, LabelError, OptionError, name_list
from crowdlogic.numerics.arrays import Floats, Ints
from crowdlogic.workflows.inputs import (
    TAKEN_AS_ORDERED,
    InputOptions,
    ResultTable,
    check_outputs,
    check_writable,
    class_numbers,
    classes_are_ordered,
    count_right,
    gold_notices,
    read_groups,
)

MOST_CLASSES = 12
"""Maximum number of distinct numbers that are treated as classes. More numbers are scores, which require gold."""
STRAY = 0.5
"""A rare grade is an error if its distance from the range of the other grades exceeds this share of the range."""
RARE = 0.001
"""Maximum share of labels with rare grades, if there are many labels."""
MAX_P_VALUE = 0.05
"""Maximum p-value for a significant change between versions."""
FOLDS = 5
"""Number of folds of the gold: the best judge is picked on all folds but one and scored on that one."""


@dataclass(frozen=True, kw_only=True)
class PanelOptions:
    """The options of `assess_panel`.

    Attributes:
        labels: The file of labels or scores.
        gold: A file of items whose truth is known (item, label), to learn from.
        groups: A file of annotator and group: annotators of one group count once.
        people: A file of labels of the same items by people, to test whether a judge may replace a person.
        gold_is_random: Whether the gold items are a random sample of the items.
        ordered: Whether the classes are ordered; None to take numbers with three values or more as ordered.
        versions: Two judges, the old and the new version of one, to compare; None for no comparison.
        out: A file for the answers; None to write none.
        seed: Random seed.
        input: Options for reading the labels.
    """

    labels: str
    gold: str | None = None
    groups: str | None = None
    people: str | None = None
    gold_is_random: bool = True
    ordered: bool | None = None
    versions: Sequence[str] | None = None
    out: str | None = None
    seed: int = 0
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, kw_only=True)
class VersionChange:
    """Comparison of two versions of a judge.

    Attributes:
        old: The old version.
        new: The new version.
        common: Number of items that both labelled.
        changed: Number of common items with different answers.
        most_from: Old answer in the most frequent change; None without changes.
        most_to: New answer in the most frequent change.
        most_count: Number of items with the most frequent change.
        gold: Number of common items with gold.
        better: Gold items that only the new version answers correctly.
        worse: Gold items that only the old version answers correctly.
        p_value: P-value of McNemar's exact test that both versions are equally often right; 1 without gold.
    """

    old: str
    new: str
    common: int
    changed: int
    most_from: str | None
    most_to: str | None
    most_count: int
    gold: int
    better: int
    worse: int
    p_value: float

    def sentence(self) -> str:
        """Return the change in words."""
        if not self.common:
            return f"{self.old} and {self.new} have no item in common."
        said = f"From {self.old} to {self.new}, {percent(self.changed / self.common)} of {self.common:,} answers change"
        if self.most_from is not None:
            said += f", most often from {self.most_from} to {self.most_to} ({self.most_count:,})"
        if not self.gold:
            return f"{said}. Only gold shows whether they get better: give it with --gold."
        sure = "more than chance explains" if self.p_value < MAX_P_VALUE else "which may be chance"
        return (
            f"{said}. On {pluralise(self.gold, 'gold item')} {self.better:,} get better and {self.worse:,} worse, "
            f"{sure} (p = {self.p_value:.2g})."
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class PanelResult:
    """Assessment of a panel.

    Attributes:
        labels: The labels, with the classes of the gold.
        gold: gold[i], UNKNOWN without gold.
        found: The assessment.
        notices: Notices on the input.
        replaces: The alternative annotator test of each judge; empty without labels of people.
    """

    labels: CrowdLabels
    gold: Ints
    found: Assessment
    notices: tuple[str, ...]
    replaces: tuple[AlternativeAnnotator | None, ...] = ()
    change: VersionChange | None = None

    @property
    def names(self) -> list[str]:
        """The names of the judges."""
        return [str(name) for name in self.labels.annotators.to_list()]

    def best_judge(self) -> tuple[str | None, float]:
        """Return the judge with most correct labels on gold, and the expected accuracy of a judge that is picked so.

        The best of many judges on some items looks better than it is. Therefore the accuracy is cross-validated:
        a judge is picked on four fifths of the gold items and scored on the others; an item that it did not label
        counts as wrong.
        """
        labels, size = self.labels, len(self.labels.annotators)
        units = np.flatnonzero(self.gold != UNKNOWN)
        fold = np.full(labels.n_units, -1)
        fold[units] = np.random.default_rng(0).permutation(len(units)) % FOLDS
        hit = (self.gold[labels.unit] == labels.label) & (fold[labels.unit] >= 0)
        # right[f, j]: right labels of each judge on the gold items of each fold
        cell = fold[labels.unit[hit]] * size + labels.annotator[hit]
        right = np.bincount(cell, minlength=FOLDS * size).reshape(FOLDS, size)
        total = right.sum(axis=0)
        if not total.any():
            return None, 0.0
        picked = (total - right).argmax(axis=1)
        return self.names[int(total.argmax())], float(right[np.arange(FOLDS), picked].sum() / len(units))

    def sentences(self) -> list[str]:
        """Return the findings, one sentence each."""
        found, names = self.found, self.names
        worth = pluralise_votes(found.calibration.effective_votes or 0.0)
        said = [f"{pluralise(len(names), 'judge')}, worth about {worth}."]
        group = found.similarity.group
        for g in np.unique(group):
            members = [names[j] for j in np.flatnonzero(group == g)]
            if len(members) > 1:
                said.append(f"{', '.join(members[:-1])} and {members[-1]} are near-copies and count as one judge.")
        alike = [pair for pair in found.similarity.pairs if not pair.near_copy]
        if alike:
            pairs = [f"{names[pair.first]} and {names[pair.second]}" for pair in alike]
            said.append(f"Judges who answer much alike: {list_names(pairs)}. They are not merged.")
        said.append(self._accuracy())
        if found.first and found.mistakes is not None:
            size, low, high = found.first[min(1, len(found.first) - 1)]
            shares = percent(low)
            if abs(low - high) >= 0.005:
                shares = f"{percent(min(low, high))} to {percent(max(low, high))}"
            said.append(f"The {size} most doubtful items contain about {shares} of the mistakes.")
        if found.gold_note:
            said.append(found.gold_note)
        if self.change is not None:
            said.append(self.change.sentence())
        tested = [(name, one) for name, one in zip(names, self.replaces, strict=False) if one is not None]
        if tested:
            able = list_names([name for name, one in tested if one.passes]) or "no judge"
            own = float(np.mean([one.person_advantage for _, one in tested]))
            said.append(
                f"By the alternative annotator test, a person may be replaced by: {able}. On average people are at "
                f"least as close to other people as a judge is on {percent(own)} of the items."
            )
        elif self.replaces:
            said.append("People share too few items for the alternative annotator test: 30 each are needed.")
        return said

    def _accuracy(self) -> str:
        """Return how many answers are expected to be wrong, and with gold, how the best judge compares."""
        expected = expected_accuracy(self.found.estimate)
        if expected is None:
            return "The truth of every answer is known."
        said = describe_mistakes(expected, "answer", option="--gold")
        if self.found.learnt is None:
            return said
        checked, right = len(self.found.learnt.truth), 1.0 - self.found.learnt.mistakes / len(self.found.learnt.truth)
        said += f" Of the {checked:,} gold items, the panel answers {percent(right)} correctly without knowing them"
        best, share = self.best_judge()
        if best is not None:
            ends = binomial_interval(round(share * checked), checked)
            said += f"; the judge picked by the same gold, {best}, {percent(share)}"
            said += f" ({percent(float(ends[0]))} to {percent(float(ends[1]))})"
        return f"{said}."

    def table(self) -> ResultTable:
        """Return one row per judge, the most reliable first."""
        hits, seen = count_right(self.labels, self.gold)
        given, found = self.labels.labels_per_annotator(), self.found
        low, high = found.reliability_range
        rows = []
        for j in np.argsort(-found.reliability, kind="stable"):
            on_gold = f"{hits[j]} of {seen[j]}" if seen[j] else None
            ends = [float(low[j]), float(high[j])] if found.mistakes is not None else [None, None]
            rows.append((self.names[j], int(given[j]), float(found.reliability[j]), *ends, on_gold, self._remark(j)))
        columns = ["judge", "labels", "reliability", "from", "to", "right on gold", "remark"]
        return ResultTable(title="judges", columns=columns, rows=rows)

    def _remark(self, j: int) -> str:
        """Return a remark on a judge's similarity to others."""
        group, family, names = self.found.similarity.group, self.found.similarity.family, self.names
        copies = [names[i] for i in np.flatnonzero(group == group[j]) if i != j]
        alike = [names[i] for i in np.flatnonzero(family == family[j]) if i != j and names[i] not in copies]
        own = self.labels.label[self.labels.annotator == j]
        parts = [f"near-copy of {list_names(copies, most=3)}"] if copies else []
        parts += [f"answers much like {list_names(alike, most=3)}"] if alike else []
        parts += ["gives one answer only"] if len(own) > 2 and len(np.unique(own)) == 1 else []
        return "; ".join(parts)

    def figures(self) -> dict[str, Any]:
        """Return the assessment as plain data."""
        found, (low, high) = self.found, self.found.reliability_range
        hits, seen = count_right(self.labels, self.gold)
        wrong, tested = found.mistakes, self.replaces or (None,) * len(self.names)
        return {
            "judges": [
                {
                    "name": name,
                    "reliability": float(found.reliability[j]),
                    "low": float(low[j]),
                    "high": float(high[j]),
                    "right_on_gold": int(hits[j]),
                    "gold": int(seen[j]),
                    "group": self.names[int(found.similarity.group[j])],
                    "winning_rate": None if test is None else test.winning_rate,
                }
                for j, (name, test) in enumerate(zip(self.names, tested, strict=True))
            ],
            "effective_votes": found.calibration.effective_votes,
            "mistakes": None
            if wrong is None
            else {"low": wrong[0], "high": wrong[1], "source": "gold" if found.calibration.checked else "labels"},
            "unknown": found.calibration.unknown or None,
            "answers": len(found.doubtful),
            "change": None if self.change is None else asdict(self.change),
            "gold": None
            if found.learnt is None
            else {"items": len(found.learnt.truth), "mistakes": found.learnt.mistakes},
        }


def assess_panel(options: PanelOptions) -> PanelResult:
    """Read labels, gold and groups, and assess the panel; write the answers if a file is named."""
    check_outputs((options.out,), read=(options.labels, options.gold, options.groups, options.people))
    check_writable(options.out)
    by_file = options.input.by_file(options.labels, options.gold, options.people)
    reading = by_file[options.labels]
    labels = replace(reading, classes=reading.classes or score_names(options.labels)).read_crowd(options.labels).labels
    if labels.is_sequential:
        raise LabelError(f"{options.labels}: expected labels of single items, found tags of sequences. Supply labels.")
    gold, scores, notices = np.full(labels.n_units, UNKNOWN), None, list(labels.intake.messages())
    values = class_numbers(labels.classes)
    if values is not None:
        _refuse_stray(options.labels, labels, values)
    if options.gold is not None:
        answers = by_file[options.gold].read_answers(options.gold)
        labels, gold, scores = join_gold(labels, answers, values)
        notices += gold_notices(labels, gold, options.gold)
    elif values is not None and labels.n_classes > MOST_CLASSES:
        raise LabelError(
            f"{options.labels}: {labels.n_classes:,} different scores are too many classes. Give gold with --gold, "
            "whose classes the scores are cut into, or round the scores."
        )
    ordered = classes_are_ordered(labels.classes, options.ordered, given=reading.classes is not None)
    if ordered and options.ordered is None and options.gold is not None:
        notices.append(TAKEN_AS_ORDERED)
    found = assess(
        labels,
        gold=gold,
        random_gold=options.gold_is_random,
        scores=scores,
        ordered=ordered,
        groups=None if options.groups is None else read_groups(options.groups, labels),
        seed=options.seed,
    )
    if options.out is not None:
        write_estimate(options.out, found.estimate)
    names = [str(name) for name in labels.annotators.to_list()]
    folded = Counter(" ".join(name.lower().split()) for name in names)
    twice = [name for name in names if folded[" ".join(name.lower().split())] > 1]
    if twice:
        notices.append(
            f"The names of these annotators differ only in case or spaces; they are treated as different annotators: "
            f"{list_names(twice)}."
        )
    replaces: tuple[AlternativeAnnotator | None, ...] = ()
    if options.people is not None:
        replaces = compare_with_people(
            labels, by_file[options.people].read_crowd(options.people).labels, options.people
        )
    change = None if options.versions is None else compare_versions(labels, gold, options.versions)
    return PanelResult(labels=labels, gold=gold, found=found, notices=tuple(notices), replaces=replaces, change=change)


def compare_versions(labels: CrowdLabels, gold: Ints, versions: Sequence[str]) -> VersionChange:
    """Compare the answers of two versions of a judge on the items that both labelled.

    Args:
        labels: The labels.
        gold: gold[i], UNKNOWN without gold.
        versions: The names of the old and the new version.
    """
    from scipy.stats import binomtest

    if len(versions) != 2:
        raise OptionError(f"--versions takes two judges, the old and the new version, got {len(versions)}.")
    old, new = find_codes(versions, as_text(labels.annotators), "annotator")
    said = np.full((2, labels.n_units), UNKNOWN)  # said[version, i]
    for row, j in enumerate((old, new)):
        own = labels.annotator == j
        said[row, labels.unit[own]] = labels.label[own]
    common = np.flatnonzero((said != UNKNOWN).all(axis=0))
    before, after = said[:, common]
    moved = np.flatnonzero(before != after)
    pairs, counts = np.unique(np.stack([before, after])[:, moved], axis=1, return_counts=True)
    most = int(counts.argmax()) if len(moved) else None
    truth = gold[common]
    was_right, is_right = (truth != UNKNOWN) & (before == truth), (truth != UNKNOWN) & (after == truth)
    better, worse = int((is_right & ~was_right).sum()), int((was_right & ~is_right).sum())
    return VersionChange(
        old=str(versions[0]),
        new=str(versions[1]),
        common=len(common),
        changed=len(moved),
        most_from=None if most is None else str(labels.classes[int(pairs[0, most])]),
        most_to=None if most is None else str(labels.classes[int(pairs[1, most])]),
        most_count=0 if most is None else int(counts[most]),
        gold=int((truth != UNKNOWN).sum()),
        better=better,
        worse=worse,
        p_value=float(binomtest(better, better + worse).pvalue) if better + worse else 1.0,
    )


def compare_with_people(
    labels: CrowdLabels, people: CrowdLabels, source: str
) -> tuple[AlternativeAnnotator | None, ...]:
    """Return the alternative annotator test of each judge against people.

    Args:
        labels: The labels of the judges.
        people: The labels of people.
        source: The file of the people's labels, for messages.
    """
    where = find(as_text(people.items), as_text(labels.items))  # where[i], the panel's item of each item of the people
    if (where < 0).all():
        raise DataError(f"{source}: no item is among those of the judges ({name_list(labels.items[:3])}, ...).")
    code = {str(name): k for k, name in enumerate(people.classes)}
    theirs = np.array([code.get(str(name), -1) for name in labels.classes])  # judges' classes as the people's
    if (theirs < 0).all():
        raise DataError(f"{source}: expected the judges' classes ({name_list(labels.classes)}), found others.")
    tests = []
    for j in range(len(labels.annotators)):
        rows = labels.annotator == j
        said = np.full(labels.n_units + 1, -1)  # the last entry is for items that the judges do not have
        said[labels.unit[rows]] = theirs[labels.label[rows]]
        tests.append(alternative_annotator_test(people, said[where]))
    return tuple(tests)


def join_gold(labels: CrowdLabels, answers: Answers, values: Floats | None) -> tuple[CrowdLabels, Ints, Floats | None]:
    """Return labels with the classes of the gold, gold[i], and the scores score[n] if they are finer than the gold.

    Args:
        labels: The labels.
        answers: The gold.
        values: The classes of the labels as numbers; None if they are not numbers.
    """
    where = find(as_text(answers.items), as_text(labels.items))
    if len(where) and (where < 0).any():
        name = answers.items[int(np.flatnonzero(where < 0)[0])]
        raise DataError(
            f"{answers.source}: nobody labelled item {name!r} ({int((where < 0).sum()):,} such items). Leave them out."
        )
    known = answers.answer != UNKNOWN
    truths, scores = class_numbers(answers.classes), None
    if values is not None and truths is not None and _is_finer(values, truths):
        # Scores on a finer scale: equal parts of the scale, as many as there are classes
        score = values[labels.label]
        edges = np.linspace(score.min(), score.max(), len(truths) + 1)[1:-1]
        order = np.argsort(truths)
        classes, scores = tuple(answers.classes[k] for k in order), score
        labels = replace(labels, label=np.searchsorted(edges, score, side="left").astype(np.int32), classes=classes)
    else:
        names = {str(name) for name in labels.classes}
        new = [name for name in answers.classes if str(name) not in names]
        merged: list[Any] = [*labels.classes, *new]
        numbers = class_numbers(tuple(merged))
        if numbers is not None:
            merged = [merged[k] for k in np.argsort(numbers, kind="stable")]
        labels = labels.with_classes(merged)
    code = {str(name): k for k, name in enumerate(labels.classes)}
    codes = np.array([code[str(name)] for name in answers.classes] or [0])
    gold = np.full(labels.n_units, UNKNOWN)
    gold[where[known]] = codes[answers.answer[known]]
    return labels, gold, scores


def score_names(path: str) -> tuple[str, ...] | None:
    """Return the distinct scores of a file of numbers with decimals, as names of classes; None for any other file."""
    if path == STANDARD_STREAM or not path.endswith((".csv", ".tsv", ".csv.gz", ".parquet")):
        return None
    table, source = read_table(path)
    label = find_roles(table.columns, None, where=source.name).get("label")
    if label is None:
        return None
    texts = as_text(table[label]).drop_nulls().str.strip_chars().unique()
    values = texts.filter(texts != "").cast(pl.Float64, strict=False)
    if not len(values) or values.null_count() or not (values % 1 != 0).any():
        return None
    return tuple(texts.filter(texts != "").to_list())


def _is_finer(values: Floats, truths: Floats) -> bool:
    """Return whether labels have a finer scale than the gold: decimals, other values, or many for 0 and 1."""
    if len(truths) < 2 or len(values) <= len(truths):
        return False
    decimals = bool((values % 1 != 0).any()) and not (truths % 1 != 0).any()
    return decimals or not set(truths) <= set(values) or (set(truths) == {0.0, 1.0} and len(values) > 4)


def _refuse_stray(source: str, labels: CrowdLabels, values: Floats) -> None:
    """Raise an error for a rare grade far outside the range of all others."""
    score = values[labels.label]
    if len(score) < 1.0 / RARE:
        least, most = np.quantile(score, [0.01, 0.99]) if len(score) > 100 else (score.min(), score.max())
    else:
        least, most = np.quantile(score, [RARE, 1.0 - RARE])
    room = STRAY * max(most - least, 1e-9)
    stray = np.flatnonzero((score < least - room) | (score > most + room))
    if len(stray):
        row = int(stray[0])
        judge, item = labels.annotators[int(labels.annotator[row])], labels.items[int(labels.unit[row])]
        scale = f"{least:g} to {most:g}"
        raise LabelError(
            f"{source}: {judge!r} gives item {item!r} the grade {score[row]:g}, but nearly all grades are in the range "
            f"{scale} ({pluralise(len(stray), 'such grade')}). Correct or remove it."
        )
