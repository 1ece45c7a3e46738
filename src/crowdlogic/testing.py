"""Conformance checks for components of other packages: truth methods, classifiers, predicates and file formats.

A test of another package is one line:

    from crowdlogic.testing import check_truth_method

    def test_my_method_conforms():
        check_truth_method(MyMethod())

Each check raises a ConformanceError that says what was expected and what was found. The checks of each kind are also
available by name (`TRUTH_METHOD_CHECKS`, ...), to run them one by one; `skip` leaves out those that do not apply. The
protocols are TruthMethod, Architecture and Classifier, Predicate, and FileFormat.

Axes: i unit, k class.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import polars as pl

from crowdlogic.classifiers.protocol import Architecture, Classifier
from crowdlogic.classifiers.protocol import build as build_classifier
from crowdlogic.data.corpus import Corpus, documents, sentences
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import FileFormat, ReadOptions
from crowdlogic.data.frames import from_arrays, from_matrix, from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.reading import write_encoded
from crowdlogic.errors import CrowdLogicError, OptionError
from crowdlogic.rules.checking import Severity
from crowdlogic.rules.checking import check as check_rules
from crowdlogic.rules.predicates.definition import Kind, Predicate, Role
from crowdlogic.rules.predicates.vocabulary import Vocabulary
from crowdlogic.truth.majority import MajorityVote
from crowdlogic.truth.methods import TruthMethod

__all__ = [
    "CLASSIFIER_CHECKS",
    "FORMAT_CHECKS",
    "PREDICATE_CHECKS",
    "TRUTH_METHOD_CHECKS",
    "Architecture",
    "Classifier",
    "ConformanceError",
    "FileFormat",
    "Predicate",
    "TruthMethod",
    "check_classifier",
    "check_format",
    "check_predicate",
    "check_truth_method",
    "planted_items",
]

Checked = TypeVar("Checked")
TOLERANCE = 1e-6
"""Maximum difference between two results that should be equal."""


class ConformanceError(AssertionError):
    """A component does not conform to its protocol."""


def require(condition: Any, message: str) -> None:
    """Raise a ConformanceError unless a condition holds."""
    if not condition:
        raise ConformanceError(message)


def require_close(found: Any, expected: Any, message: str) -> None:
    """Raise a ConformanceError unless two arrays are equal up to TOLERANCE."""
    found, expected = np.asarray(found, dtype=np.float64), np.asarray(expected, dtype=np.float64)
    require(found.shape == expected.shape, f"{message}: the shape is {found.shape}, expected {expected.shape}.")
    difference = float(np.abs(found - expected).max(initial=0.0))
    require(difference <= TOLERANCE, f"{message}: the largest difference is {difference:.3g}.")


def run_checks(
    checked: Checked, checks: Mapping[str, Callable[[Checked], None]], skip: Collection[str], name: str
) -> None:
    """Run checks in order; messages begin with the name of the component and of the check."""
    unknown = [one for one in skip if one not in checks]
    require(not unknown, f"skip: {unknown} are not checks. There are {', '.join(checks)}.")
    for title, check in checks.items():
        if title not in skip:
            try:
                check(checked)
            except ConformanceError as problem:
                raise ConformanceError(f"{name}, {title}: {problem}") from problem


# Truth methods.


def check_truth_method(method: TruthMethod, *, skip: Collection[str] = ()) -> None:
    """Check a truth method for labels of single items on small crowds.

    Args:
        method: The method.
        skip: Names of checks in TRUTH_METHOD_CHECKS that do not apply.
    """
    require(
        hasattr(method, "name") and hasattr(method, "infer"),
        f"{type(method).__name__} has no name or no infer(labels).",
    )
    run_checks(method, TRUTH_METHOD_CHECKS, skip, method.name)


def small_crowd(seed: int) -> CrowdLabels:
    """Return 40 items with three classes, labelled by seven annotators with accuracy 0.8 and missing labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(3, size=40)
    given = np.where(rng.random((40, 7)) < 0.8, truth[:, None], rng.integers(3, size=(40, 7)))
    given[rng.random((40, 7)) < 0.3] = -1
    return from_matrix(given, classes=("a", "b", "c"))


def beliefs_are_distributions(method: TruthMethod) -> None:
    """Check that beliefs are not negative, and that the row of each unit sums to 1."""
    labels = small_crowd(0)
    beliefs = np.asarray(method.infer(labels).beliefs)
    require(beliefs.shape == (40, 3), f"beliefs have the shape {beliefs.shape}, expected (40, 3).")
    require((beliefs >= 0).all(), f"the smallest belief is {beliefs.min():.3g}, expected at least 0.")
    require_close(beliefs.sum(axis=1), np.ones(40), "rows of beliefs do not sum to 1")


def answers_are_most_probable(method: TruthMethod) -> None:
    """Check that the answer is a class with the highest belief."""
    estimate = method.infer(small_crowd(0))
    chosen = estimate.beliefs[np.arange(40), np.maximum(estimate.answer, 0)]
    require_close(chosen, estimate.beliefs.max(axis=1), "an answer is not the most probable class")


def same_input_same_output(method: TruthMethod) -> None:
    """Check that a second call returns the same beliefs."""
    labels = small_crowd(5)
    require_close(method.infer(labels).beliefs, method.infer(labels).beliefs, "two calls differ")


def order_of_annotators(method: TruthMethod) -> None:
    """Check that the order of the annotators does not matter."""
    labels = small_crowd(1)
    order = np.random.default_rng(0).permutation(len(labels.annotators)).astype(np.int32)
    permuted = replace(labels, annotator=order[labels.annotator])
    require_close(method.infer(permuted).beliefs, method.infer(labels).beliefs, "the order of annotators matters")


def order_of_items(method: TruthMethod) -> None:
    """Check that the beliefs about an item do not depend on its position."""
    labels = small_crowd(2)
    order = np.random.default_rng(0).permutation(labels.n_units)
    moved = method.infer(labels.take_items(order)).beliefs
    require_close(moved, method.infer(labels).beliefs[order], "the order of items matters")


def order_of_classes(method: TruthMethod) -> None:
    """Check that the beliefs do not depend on the order of the classes."""
    labels = small_crowd(3)
    turned = method.infer(labels.with_classes(("c", "a", "b"))).beliefs
    require_close(turned, method.infer(labels).beliefs[:, [2, 0, 1]], "the order of classes matters")


def items_without_labels(method: TruthMethod) -> None:
    """Check that an item without labels has a distribution and no answer."""
    labels = small_crowd(4)
    estimate = method.infer(replace(labels, items=pl.concat([labels.items, pl.Series([999])])))
    require(estimate.answer[-1] == -1, "an item without labels has an answer, expected -1.")
    require_close(estimate.beliefs[-1].sum(), 1.0, "the beliefs of an item without labels do not sum to 1")
    answered = estimate.answer[:-1][labels.labels_per_unit() > 0]
    require((answered >= 0).all(), "an item with labels has no answer.")


def empty_tables(method: TruthMethod) -> None:
    """Check that a table without labels gives an empty estimate."""
    estimate = method.infer(from_arrays([], [], []))
    require(estimate.beliefs.shape == (0, 0), f"beliefs have the shape {estimate.beliefs.shape}, expected (0, 0).")
    require(estimate.answer_names() == [], "there are answers without items.")


def one_class(method: TruthMethod) -> None:
    """Check that with a single class every item gets that class."""
    beliefs = method.infer(from_arrays(["u", "v"], ["a", "b"], ["yes", "yes"])).beliefs
    require_close(beliefs, np.ones((2, 1)), "the only class is not certain")


def class_names(method: TruthMethod) -> None:
    """Check that answers have the type of the labels: bool, int or text."""
    for names in ([True, False, True], [3, 1, 3], ["b", "a", "b"]):
        found = method.infer(from_arrays(["u", "v", "w"], ["a", "a", "a"], names)).answer_names()
        kinds = [type(name) for name in found if name is not None]
        require(kinds == [type(names[0])] * len(kinds), f"answers are {found} for labels {names}.")


TRUTH_METHOD_CHECKS: dict[str, Callable[[TruthMethod], None]] = {
    check.__name__: check
    for check in (
        beliefs_are_distributions,
        answers_are_most_probable,
        same_input_same_output,
        order_of_annotators,
        order_of_items,
        order_of_classes,
        items_without_labels,
        empty_tables,
        one_class,
        class_names,
    )
}
"""The checks of truth methods, by name."""


# Classifiers.


@dataclass(frozen=True)
class PlantedItems:
    """Items with a planted truth: truth[i], the class of each unit."""

    corpus: Corpus
    classes: tuple[str, ...]
    truth: Any

    @property
    def targets(self) -> Beliefs:
        """Targets targets[i, k], one-hot."""
        return np.asarray(np.eye(len(self.classes))[self.truth], dtype=np.float64)

    def take(self, items: Any) -> tuple[Corpus, Any]:
        """Return a subset of the items, and their units."""
        offsets = self.corpus.offsets
        units = items if offsets is None else np.concatenate([np.arange(offsets[s], offsets[s + 1]) for s in items])
        return self.corpus.take_items(items), units


def planted_items(kind: str = "texts", *, seed: int = 0, count: int = 60) -> PlantedItems:
    """Return items whose class is determined by one word or feature.

    Args:
        kind: texts, tokens (sentences whose tokens are tagged) or features.
        seed: Random seed.
        count: Number of items.
    """
    rng = np.random.default_rng(seed)
    others, deciding = ["the", "film", "with", "a", "cast", "and", "its", "plot"], (["dull", "poor"], ["fine", "warm"])
    if kind == "features":
        truth = rng.integers(2, size=count)
        features = 4.0 * np.eye(2, 3)[truth] + rng.normal(size=(count, 3))
        return PlantedItems(Corpus(pl.Series(range(count)), features=features), ("neg", "pos"), truth)
    if kind == "tokens":
        tokens = [[str(w) for w in rng.choice([*others, "Ann", "Bob"], size=rng.integers(1, 9))] for _ in range(count)]
        tags = np.array([int(word in ("Ann", "Bob")) for words in tokens for word in words])
        return PlantedItems(sentences(range(count), tokens), ("O", "NAME"), tags)
    truth = rng.integers(2, size=count)
    texts = [" ".join([*rng.choice(others, size=rng.integers(0, 8)), str(rng.choice(deciding[k]))]) for k in truth]
    return PlantedItems(documents(range(count), texts), ("neg", "pos"), truth)


def check_classifier(
    architecture: Architecture,
    *,
    items: PlantedItems | str = "texts",
    epochs: int = 20,
    skip: Collection[str] = (),
) -> None:
    """Check a classifier on items with a planted truth.

    Args:
        architecture: The architecture that builds the classifier.
        items: Kind of training items: texts, tokens or features; or your own items.
        epochs: Number of epochs in which it must learn them.
        skip: Names of checks in CLASSIFIER_CHECKS that do not apply.
    """
    planted = planted_items(items) if isinstance(items, str) else items
    case = ClassifierCase(architecture, planted, epochs)
    run_checks(case, CLASSIFIER_CHECKS, skip, architecture.name)


@dataclass(frozen=True)
class ClassifierCase:
    """A classifier and the data for its checks."""

    architecture: Architecture
    items: PlantedItems
    epochs: int

    def build(self, seed: int = 0) -> Classifier:
        """Return an untrained classifier."""
        return build_classifier(self.architecture, self.items.corpus, self.items.classes, seed=seed)

    def train(self, epochs: int = 1, seed: int = 0) -> Classifier:
        """Return a classifier after some epochs."""
        made = self.build(seed)
        for _ in range(epochs):
            made.fit_epoch(self.items.corpus, self.items.targets)
        return made


def predictions_are_distributions(case: ClassifierCase) -> None:
    """Check that predict_proba returns a distribution for each unit, as 64-bit floats."""
    p = case.train().predict_proba(case.items.corpus)
    shape = (case.items.corpus.n_units, len(case.items.classes))
    require(p.shape == shape, f"the shape of the probabilities is {p.shape}, expected {shape}.")
    require(p.dtype == np.float64, f"the type of the probabilities is {p.dtype}, expected float64.")
    require((p >= 0).all(), f"the smallest probability is {p.min():.3g}.")
    require_close(p.sum(axis=1), np.ones(len(p)), "rows of probabilities do not sum to 1")


def planted_classes_are_learnt(case: ClassifierCase) -> None:
    """Check that the classes of the training items are learned within the given number of epochs."""
    p = case.train(case.epochs).predict_proba(case.items.corpus)
    right = float((p.argmax(axis=1) == case.items.truth).mean())
    require(right >= 0.9, f"{right:.0%} of the units are right after {case.epochs} epochs, expected 90%.")


def losses_are_finite(case: ClassifierCase) -> None:
    """Check that fit_epoch returns the mean loss of the epoch as a number."""
    loss = case.build().fit_epoch(case.items.corpus, case.items.targets)
    require(np.isfinite(float(loss)), f"fit_epoch returned {loss!r}.")


def one_seed_one_classifier(case: ClassifierCase) -> None:
    """Check that two classifiers with the same seed are equal after training."""
    p, again = (case.train(2, seed=3).predict_proba(case.items.corpus) for _ in range(2))
    require_close(again, p, "two classifiers with the same seed differ")


def arrays_restore_the_state(case: ClassifierCase) -> None:
    """Check that `restore` and `load` give a classifier that predicts and trains like the saved one."""
    corpus, targets = case.items.corpus, case.items.targets
    first = case.train(2, seed=5)
    kept = {name: np.array(array) for name, array in first.arrays().items()}
    other = case.train(1, seed=6)
    other.restore(kept)
    loaded = case.architecture.load(kept, case.items.classes)
    p = first.predict_proba(corpus)
    first.fit_epoch(corpus, targets)
    for made, how in ((other, "restore"), (loaded, "load")):
        require_close(made.predict_proba(corpus), p, f"predictions after {how} differ")
        made.fit_epoch(corpus, targets)
        require_close(made.predict_proba(corpus), first.predict_proba(corpus), f"an epoch after {how} differs")


def arrays_are_a_snapshot(case: ClassifierCase) -> None:
    """Check that the result of `arrays` does not change when training continues."""
    made = case.train()
    kept = made.arrays()
    before = {name: np.array(array) for name, array in kept.items()}
    made.fit_epoch(case.items.corpus, case.items.targets[::-1])
    changed = [name for name in before if not np.array_equal(kept[name], before[name])]
    require(not changed, f"the arrays changed after another epoch; return copies: {', '.join(changed)} differ.")


def arrays_need_no_pickle(case: ClassifierCase) -> None:
    """Check that the state consists of numbers, so that a run can store it."""
    kinds = {name: np.asarray(array).dtype for name, array in case.train().arrays().items()}
    wrong = [f"{name} ({kind})" for name, kind in kinds.items() if kind.kind not in "biuf"]
    require(not wrong, f"{', '.join(wrong)}: expected arrays of numbers.")


def order_of_items_to_predict(case: ClassifierCase) -> None:
    """Check that predictions for an item depend neither on its position nor on other items."""
    made = case.train()
    p = made.predict_proba(case.items.corpus)
    order = np.random.default_rng(0).permutation(len(case.items.corpus.items))
    for some in (order, order[:3]):
        corpus, units = case.items.take(some)
        require_close(made.predict_proba(corpus), p[units], "predictions depend on the other items")


def units_of_weight_zero(case: ClassifierCase) -> None:
    """Check that targets of weight 0 have no influence."""
    corpus, targets = case.items.corpus, case.items.targets
    weights = (np.random.default_rng(0).random(len(targets)) < 0.5).astype(float)
    other = np.where(weights[:, None] > 0, targets, 1.0 - targets)
    one, two = case.build(), case.build()
    one.fit_epoch(corpus, targets, weights)
    two.fit_epoch(corpus, other, weights)
    require_close(two.predict_proba(corpus), one.predict_proba(corpus), "targets of weight 0 have an influence")


def nothing_to_predict(case: ClassifierCase) -> None:
    """Check that a corpus without items has no predictions."""
    p = case.train().predict_proba(case.items.corpus.take_items(np.zeros(0, dtype=np.int64)))
    require(p.shape == (0, len(case.items.classes)), f"the shape for no items is {p.shape}.")


CLASSIFIER_CHECKS: dict[str, Callable[[ClassifierCase], None]] = {
    check.__name__: check
    for check in (
        predictions_are_distributions,
        planted_classes_are_learnt,
        losses_are_finite,
        one_seed_one_classifier,
        arrays_restore_the_state,
        arrays_are_a_snapshot,
        arrays_need_no_pickle,
        order_of_items_to_predict,
        units_of_weight_zero,
        nothing_to_predict,
    )
}
"""The checks of classifiers, by name."""


# Predicates.

TEXTS = ("a plain text", "SHOUTING!", "", "naïve ☃ text", "two\nlines", "  ", "x" * 500)
"""Texts that functions of texts must accept."""


def check_predicate(
    predicate: Predicate,
    *,
    constants: Sequence[str] = (),
    texts: Sequence[str] = TEXTS,
    skip: Collection[str] = (),
) -> None:
    """Check a predicate of texts.

    Args:
        predicate: The predicate.
        constants: A value for each of its quoted places.
        texts: Texts to call it with.
        skip: Names of checks in PREDICATE_CHECKS that do not apply.
    """
    require(isinstance(predicate, Predicate), f"{type(predicate).__name__} is not a Predicate; see truth_predicate.")
    require(
        predicate.role in (Role.function, Role.text),
        f"{predicate.name} has the role {predicate.role}; only predicates of texts can be checked.",
    )
    run_checks(PredicateCase(predicate, tuple(constants), tuple(texts)), PREDICATE_CHECKS, skip, predicate.name)


@dataclass(frozen=True)
class PredicateCase:
    """A predicate and the data for its checks."""

    predicate: Predicate
    constants: tuple[str, ...]
    texts: tuple[str, ...]

    @property
    def derives_text(self) -> bool:
        """Whether it derives a text instead of a truth value."""
        return self.predicate.kinds[-1] is Kind.text

    def values(self, texts: Sequence[str]) -> list[Any]:
        """Return the values of its function for some texts."""
        if self.predicate.function is None:
            raise ConformanceError("it has no function.")
        given: Any = pl.Series(texts, dtype=pl.String) if self.predicate.role is Role.text else list(texts)
        return list(self.predicate.function(given, *self.constants))


def one_value_per_text(case: PredicateCase) -> None:
    """Check that the function returns one value per text, also for no texts."""
    for texts in (case.texts, ()):
        found = case.values(texts)
        require(len(found) == len(texts), f"there are {len(found)} values for {len(texts)} texts.")


def values_are_in_range(case: PredicateCase) -> None:
    """Check that truth values lie in [0, 1], and that derived texts are text or None."""
    for text, value in zip(case.texts, case.values(case.texts), strict=True):
        valid = value is None or isinstance(value, str) if case.derives_text else 0.0 <= float(value) <= 1.0
        require(
            valid, f"the value of {text[:40]!r} is {value!r}, expected {'a text' if case.derives_text else '0 to 1'}."
        )


def texts_are_independent(case: PredicateCase) -> None:
    """Check that the value of a text does not depend on the other texts."""
    together, alone = case.values(case.texts), [case.values([text])[0] for text in case.texts]
    require(together == alone, f"the values of single texts are {alone}, of all texts together {together}.")


def rules_can_use_it(case: PredicateCase) -> None:
    """Check that a rule with the predicate passes `crowdlogic rules check`."""
    vocabulary = Vocabulary()
    if vocabulary.find(case.predicate.name) is None:
        vocabulary._add(case.predicate)
    places = iter(case.constants)
    quoted = {Kind.word, Kind.pattern, Kind.file}
    words = [
        "S" if not at else f"'{next(places)}'" if kind in quoted else "B"
        for at, kind in enumerate(case.predicate.kinds)
    ]
    then = "Predicted(B, C)" if case.derives_text else "Label(S, 'a')"
    first = "Label(S, C) & " if case.derives_text else ""
    rule = f"1.0: {first}{case.predicate.name}({', '.join(words)}) -> {then}"
    corpus = documents(range(len(case.texts)), list(case.texts))
    found = check_rules(rule, classes=("a", "b"), vocabulary=vocabulary, corpus=corpus)
    wrong = [str(finding) for finding in found if finding.severity is Severity.error]
    require(not wrong, f"{rule}: {' '.join(wrong)}")


PREDICATE_CHECKS: dict[str, Callable[[PredicateCase], None]] = {
    check.__name__: check
    for check in (one_value_per_text, values_are_in_range, texts_are_independent, rules_can_use_it)
}
"""The checks of predicates, by name."""


# File formats.


def check_format(format: FileFormat, *, skip: Collection[str] = ()) -> None:
    """Check a file format: it must read what it writes, and reject other files with one line.

    Args:
        format: The format.
        skip: Names of checks in FORMAT_CHECKS that do not apply.
    """
    run_checks(format, FORMAT_CHECKS, skip, getattr(format, "name", type(format).__name__))


def _write_and_find(format: FileFormat, folder: str, encode: Callable[[CrowdLabels, Corpus, str], Any]) -> Any:
    """Write labels of documents, or of sentences if the format cannot store them; return the labels and the file."""
    texts = documents(["t1", "t2", "t3"], ["one", "two", "three"])
    given = from_arrays(["t1", "t2", "t3", "t1"], ["ann", "ann", "ann", "bob"], ["yes", "no", "no", "yes"])
    tokens = sentences(["s1", "s2"], [["Ann", "sees", "Bob"], ["nothing", "here"]])
    tags = {"s1": ["B-PER", "O", "B-PER"], "s2": ["O", "O"]}
    tagged = from_sequences([(item, name, tags[item]) for item in tags for name in ("ann", "bob")])
    path = Path(folder) / f"file{format.suffixes[0]}"
    refused: list[str] = []
    for labels, corpus in ((given, texts), (tagged, tokens)):
        try:
            write_encoded(path, encode(labels, corpus, str(path)))
        except OptionError as problem:
            refused.append(str(problem))
            continue
        return labels, InputFile(str(path))
    raise ConformanceError(f"neither documents nor sentences can be written: {' '.join(refused)}")


def names_and_suffixes(format: FileFormat) -> None:
    """Check that the format has a name, a title and suffixes that begin with a dot."""
    require(bool(format.name) and bool(format.title), "name and title must not be empty.")
    wrong = [suffix for suffix in format.suffixes if not suffix.startswith(".")]
    require(not wrong, f"suffixes must begin with a dot: {wrong}.")


def labels_come_back(format: FileFormat) -> None:
    """Check that written labels are read back: items, annotators and classes."""
    if not format.overrides("encode_labels"):
        return
    with tempfile.TemporaryDirectory() as folder:
        labels, file = _write_and_find(format, folder, format.encode_labels)
        found = format.read_crowd(file, ReadOptions()).labels
    require(_rows(found) == _rows(labels), f"{_rows(labels)} were written, {_rows(found)} read.")


def answers_come_back(format: FileFormat) -> None:
    """Check that written answers are read back."""
    if not format.overrides("encode_estimate"):
        return

    def encode(labels: CrowdLabels, corpus: Corpus, target: str) -> Any:
        return format.encode_estimate(MajorityVote(ties="first").infer(labels), corpus, target)

    with tempfile.TemporaryDirectory() as folder:
        labels, file = _write_and_find(format, folder, encode)
        known = format.read_answers(file)
    written = [str(labels.classes[code]) for code in MajorityVote(ties="first").infer(labels).answer]
    found = [str(known.classes[code]) for code in known.answer]
    require(found == written, f"the answers {written} were written, {found} read.")


def junk_is_refused(format: FileFormat) -> None:
    """Check that other files raise one of crowdlogic's errors."""
    for junk in (b"", b"\x00\xff\xfe junk \x80", b"{]", b"\n\n\n"):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"file{format.suffixes[0] if format.suffixes else ''}"
            path.write_bytes(junk)
            try:
                format.read_crowd(InputFile(str(path)), ReadOptions())
            except CrowdLogicError:
                continue
            except Exception as problem:
                raise ConformanceError(
                    f"reading {junk!r} raised {type(problem).__name__}: {problem}. Raise a FormatError."
                ) from problem


def _rows(labels: CrowdLabels) -> list[tuple[str, str, str]]:
    """Return (item, annotator, class) of every label, sorted."""
    items, annotators = (
        labels.items.gather(labels.item_of_unit[labels.unit]).to_list(),
        labels.annotators.gather(labels.annotator).to_list(),
    )
    names = [labels.classes[code] for code in labels.label]
    return sorted((str(i), str(j), str(n)) for i, j, n in zip(items, annotators, names, strict=True))


FORMAT_CHECKS: dict[str, Callable[[FileFormat], None]] = {
    check.__name__: check for check in (names_and_suffixes, labels_come_back, answers_come_back, junk_is_refused)
}
"""The checks of file formats, by name."""
