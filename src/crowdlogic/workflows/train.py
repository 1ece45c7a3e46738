"""Train a classifier on labels, items and rules: read the inputs, train, and describe the result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from crowdlogic.annotators.label_sums import find_labelling_functions
from crowdlogic.classifiers.protocol import NeedsFiles, predict
from crowdlogic.confidence.expected_accuracy import describe_mistakes, describe_source, expected_accuracy
from crowdlogic.data.chain_beliefs import answers
from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.formats.protocol import ReadOptions
from crowdlogic.data.intake.columns import UNNAMED_ANNOTATOR
from crowdlogic.data.intake.contract import Boundaries, Duplicates, Tokenizer
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes
from crowdlogic.data.reading import read_answers, read_corpus, read_crowd
from crowdlogic.data.wording import pluralise, shorten_name
from crowdlogic.errors import CrowdLogicError, Interrupted, OptionError, ResourceError, RuleError, name_list
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.choice import DEFAULT_SECONDS, choose_classifier
from crowdlogic.learning.confidence import PredictionScales, ScaleSource
from crowdlogic.learning.learned import Learned
from crowdlogic.learning.method import LearningMethod, TrainingData, as_architecture, to_training_set
from crowdlogic.learning.saved_run import Run, confidence_record, train_run
from crowdlogic.learning.task import holds_out, score_name
from crowdlogic.learning.training import EpochCallback
from crowdlogic.metrics.scores import macro_f1
from crowdlogic.registry import DEFAULT_LEARNING_METHOD, LEARNING_METHODS, PRESETS
from crowdlogic.rules.parser import as_rules, parse_rules, read_rules
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.store.checkpoints import check_claimable
from crowdlogic.store.files import CLEAN_LABELS, CLEAN_TAGS, is_run, last_epoch, read_config, reading, require_entry
from crowdlogic.store.options import decode_options, encode_options, merge_changes, read_toml
from crowdlogic.workflows.aggregate import FEW_ANSWERS, anchors_of, collect_warnings, unit_noun
from crowdlogic.workflows.inputs import (
    InputOptions,
    ResultTable,
    check_outputs,
    parse_columns,
    parse_names,
    percent,
    read_vocabulary,
)

if TYPE_CHECKING:
    from crowdlogic.data.vectors import WordVectors
    from crowdlogic.rules.predicates import Vocabulary

# Options for training. Explicit options take precedence over a TOML file, and the file over the run that is resumed.


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The options of `train`, by the names that they have on the command line, in a TOML file and in config.json.

    None means the default.

    Attributes:
        labels: The labels' file.
        items: The items' file.
        dev: Items with gold for early stopping.
        test: Items with gold that are only scored.
        anchors: Training items whose truth is known: item and label, or tags.
        rules: The rule file.
        grammar: Whether the grammar of span tags is added to the rules.
        keep_weights: Whether rules keep their weights even if held-out labels contradict them.
        table: Facts for predicates, as Name=file.
        method: The learning method.
        preset: The configuration of the paper to start from.
        model: The classifier.
        vectors: Files of word vectors, which are concatenated.
        epochs: Maximum number of epochs.
        patience: Epochs without a better score before stopping.
        seed: Random seed.
        time: Maximum training time if the classifier is chosen automatically, such as 5m.
        chosen: The classifier that was chosen automatically, and its preset; saved for `--resume`.
        device: The device for neural models.
        classes: The classes, separated by commas.
        column: Roles of columns, as role=name.
        format: The format of the labels.
        duplicates: What to do if an annotator labels an item twice.
        wide: Whether the labels have one column per annotator.
        abstain: With wide: a value that means no label.
        empty_label: The class that an empty answer means.
        question: The question to read, if an export has several.
        tokens: How to split texts with marked spans into tokens.
        boundaries: What to do if a marked span begins or ends inside a token.
        threshold: For evaluations: minimum score that counts as a pass.
        query: For a database: the query that returns the rows.
        features: Columns of numeric features in the tables of items, or an npz file with features.
        set: Changes to options of the method, nested.
    """

    labels: str | None = None
    items: str | None = None
    dev: str | None = None
    test: str | None = None
    anchors: str | None = None
    rules: str | None = None
    grammar: bool = True
    keep_weights: bool = False
    table: tuple[str, ...] = ()
    method: str | None = None
    preset: str | None = None
    model: str | None = None
    vectors: tuple[str, ...] = ()
    epochs: int | None = None
    patience: int | None = None
    seed: int | None = None
    time: str | None = None
    chosen: Mapping[str, Any] = field(default_factory=dict)
    device: str | None = None
    classes: str | None = None
    column: tuple[str, ...] = ()
    format: str | None = None
    duplicates: Duplicates | None = None
    wide: bool = False
    abstain: str | None = None
    empty_label: str | None = None
    question: str | None = None
    tokens: Tokenizer | None = None
    boundaries: Boundaries | None = None
    threshold: float | None = None
    query: str | None = None
    features: str | None = None
    set: Mapping[str, Any] = field(default_factory=dict)

    @property
    def changes(self) -> dict[str, Any]:
        """All changes to the method's options: those with a flag of their own, and those of --set."""
        own = {name: getattr(self, name) for name in ("epochs", "patience", "seed") if getattr(self, name) is not None}
        return merge_changes(self.set, {"limits": own} if own else {})

    @property
    def input(self) -> InputOptions:
        """Options for reading the labels."""
        return InputOptions(
            format=self.format,
            columns=parse_columns(self.column),
            classes=parse_names(self.classes),
            duplicates=self.duplicates or Duplicates.error,
            wide=self.wide,
            abstain=self.abstain,
            empty_label=self.empty_label,
            question=self.question,
            tokens=self.tokens or Tokenizer.words,
            boundaries=self.boundaries or Boundaries.widen,
            threshold=self.threshold,
            query=self.query,
            single=True,
            features=self.features,
        )

    def plain(self) -> dict[str, Any]:
        """Return the options that differ from the defaults, as plain data."""
        empty = TrainOptions()
        return {
            one.name: encode_options(getattr(self, one.name))
            for one in fields(self)
            if getattr(self, one.name) != getattr(empty, one.name)
        }

    def override(self, below: Mapping[str, Any], *, where: str) -> TrainOptions:
        """Return these options, completed by options with lower precedence.

        Args:
            below: Options as plain data, from a file or a run, which apply if these options are None.
            where: Name of their source in messages.
        """
        known = decode_options(TrainOptions(), below, where=where)
        return decode_options(known, {**self.plain(), "set": merge_changes(known.set, self.set)})


# Choice of the learning method: by name, from a preset, with a model, word vectors and changes to any option.


@dataclass(frozen=True, eq=False, kw_only=True)
class MethodChoice:
    """Choice of a learning method and its options.

    Attributes:
        method: Name of the method in `registry.LEARNING_METHODS`.
        preset: Name of the preset to start from; None for the defaults.
        model: The classifier: an argument of `as_architecture`; None for the default of the method or preset.
        vectors: Word vectors, for classifiers that use them.
        changes: Changed options, nested: an argument of `decode_options`.
        device: The device for a neural classifier.
        automatic: Whether model and preset were chosen by `complete_choice`. The rules and the fixed rule weights of
            the preset are then left out.
    """

    method: str = "logic-lncl"
    preset: str | None = None
    model: Any = None
    vectors: WordVectors | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)
    device: str | None = None
    automatic: bool = False


TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*([smh]?)")
TIME_UNITS = {"": 1, "s": 1, "m": 60, "h": 3600}


def parse_time(text: str) -> float:
    """Return a number of seconds from a text such as 90s, 5m or 1h."""
    found = TIME.fullmatch(text.strip())
    if found is None or float(found[1]) == 0:
        raise OptionError(f"--time: {text!r:.40} is not a time. Write a number with a unit, such as 90s, 5m or 1h.")
    return float(found[1]) * TIME_UNITS[found[2]]


def complete_choice(
    choice: MethodChoice, labels: CrowdLabels, corpus: Corpus, *, time: str | None = None
) -> tuple[MethodChoice, str]:
    """Choose a classifier for users who named neither a model nor a preset.

    Returns:
        The choice, and the reason for it in one line; empty if the user decided.
    """
    decided = (
        choice.preset is not None
        or choice.model is not None
        or choice.vectors is not None
        or choice.method != DEFAULT_LEARNING_METHOD
        or "classifier" in choice.changes
    )
    if decided:
        return choice, ""
    seconds = DEFAULT_SECONDS if time is None else parse_time(time)
    model = decode_options(LogicLNCL(), choice.changes).annotators
    found = choose_classifier(labels, corpus, model=model, seconds=seconds)
    return replace(choice, model=found.name, preset=found.preset, automatic=True), found.reason


def configure_method(choice: MethodChoice, classes: Classes) -> tuple[LearningMethod, RuleSet | None]:
    """Return the method with all its options, and the rules of the preset if the method uses rules.

    All options that a method shares with the preset are copied: classifier, annotators, projector, limits, ...
    """
    base, rules = LogicLNCL(), None
    if choice.preset is not None:
        made = PRESETS.load(choice.preset)(classes)
        base, rules = made.method, made.rules
    if choice.automatic:
        base, rules = replace(base, learn_weights=True), None
    kind = LEARNING_METHODS.load(choice.method)
    known = {one.name for one in fields(kind)}
    options = {one.name: getattr(base, one.name) for one in fields(base) if one.name in known}
    if getattr(kind, "own_classifier", None) is not None:
        options["classifier"] = kind.own_classifier
    # A classifier that the method or the preset already has keeps its options.
    if choice.model is not None and choice.model != options["classifier"].name:
        options["classifier"] = as_architecture(choice.model)
    method = decode_options(kind(**options), choice.changes)

    # Vectors and the device are not plain options.
    model = method.classifier
    takes = {one.name for one in fields(model)} if is_dataclass(model) else set()
    if choice.vectors is not None:
        if "vectors" not in takes:
            raise OptionError(
                f"--vectors: the model {model.name} does not use word vectors. Choose kim-cnn or cnn-gru."
            )
        model = replace(model, vectors=choice.vectors)
    if choice.device is not None and "training" in takes:
        model = replace(model, training=replace(model.training, device=choice.device))
    configured: LearningMethod = replace(method, classifier=model)
    return configured, rules if "projector" in known else None


# Inputs of `train` (labels, items, rules, vectors), and notices about them.

TAGGERS, TEXT_MODELS = ("cnn-gru", "bilstm-crf", "crf"), ("kim-cnn",)
"""Classifiers for tokenised sentences only, and classifiers for whole texts only."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingInputs:
    """Inputs of a training.

    Attributes:
        method: The learning method.
        data: The training data.
        notices: Notices on the method and the data, to show before training.
    """

    method: LearningMethod
    data: TrainingData
    notices: tuple[str, ...]


def read_training_inputs(options: TrainOptions, *, allow_outside: bool = False) -> TrainingInputs:
    """Read the files that the options name, and choose the method.

    Args:
        options: The options.
        allow_outside: Whether rules may name files outside the folder of the rule file.
    """
    by_file = options.input.by_file(str(options.labels), options.items, options.dev, options.test, options.anchors)
    labels, corpus = _read_labelled(options, by_file)
    dev, test = (None if path is None else by_file[path].read_corpus(path) for path in (options.dev, options.test))
    anchors, vectors = None, None
    if options.anchors is not None:
        anchors = anchors_of(by_file[options.anchors].read_answers(options.anchors), labels)
    if options.vectors:
        from crowdlogic.data.vectors import concatenate_vectors, read_vectors

        sets = [read_vectors(path) for path in options.vectors]
        vectors = concatenate_vectors(*sets) if len(sets) > 1 else sets[0]
    choice = MethodChoice(
        method=options.method or DEFAULT_LEARNING_METHOD,
        preset=options.preset,
        model=options.model,
        vectors=vectors,
        changes=options.changes,
        device=options.device,
    )
    if options.chosen:  # a run that is resumed
        choice, reason = replace(choice, **options.chosen, automatic=True), ""
    else:
        choice, reason = complete_choice(choice, labels, corpus, time=options.time)
    if choice.automatic:
        options = replace(options, chosen={"model": choice.model, "preset": choice.preset})
    method, preset_rules = configure_method(choice, labels.classes)
    if options.keep_weights and isinstance(method, LogicLNCL):
        method = replace(method, learn_weights=False)
    rules = preset_rules if options.rules is None else read_rules(options.rules, allow_outside=allow_outside)
    grammar_notices: tuple[str, ...] = ()
    if options.grammar and options.preset is None:  # a preset contains its own rules
        rules, grammar_notices = _with_grammar(rules, labels, method)
    _check_kind(choice, method, corpus, str(options.items or options.labels))
    data = TrainingData(
        corpus=corpus,
        labels=labels,
        rules=rules,
        vocabulary=read_vocabulary(options.table),
        dev=dev,
        watched={} if test is None else {"test": test},
        anchors=anchors,
        inputs=options.plain(),
    )
    notices = [reason] if reason else []
    notices += _label_notices(options, labels, corpus)
    if anchors is not None:
        notices.append(f"{options.anchors}: the truth of {pluralise(len(anchors), 'item')} is known, and learnt from.")
    notices += [*_dev_notices(options, data, method), *grammar_notices, *_rule_notices(data)]
    if vectors is not None:
        model: Any = method.classifier  # no other classifier takes vectors
        share = percent(vectors.coverage(model.tokenize(corpus).words, exact=model.case_sensitive))
        names = ", ".join(options.vectors)
        notices.append(f"{names}: {vectors.size} dimensions; {share} of the words have a vector.")
    return TrainingInputs(method=method, data=data, notices=tuple(notices))


def _read_labelled(options: TrainOptions, by_file: Mapping[str, InputOptions]) -> tuple[CrowdLabels, Corpus]:
    """Read the labels and their items."""
    path = str(options.labels)
    crowd = by_file[path].read_crowd(path)
    items = options.input.items_file(options.items)
    if items is not None:
        return align(crowd.labels, by_file.get(items, options.input).read_corpus(items))
    if crowd.corpus is None:
        raise OptionError(f"{path}: this file contains labels but no texts. Pass the items: --items FILE.")
    return crowd.labels, crowd.corpus


def _with_grammar(
    rules: RuleSet | None, labels: CrowdLabels, method: LearningMethod
) -> tuple[RuleSet | None, tuple[str, ...]]:
    """Add the grammar of the tags to the rules, unless they contain it or the method does not use rules."""
    from crowdlogic.rules.transitions import find_grammar, includes_grammar

    grammar = find_grammar(labels)
    if grammar is None or not hasattr(method, "projector") or (rules is not None and includes_grammar(rules)):
        return rules, ()
    added = parse_rules(f"1.0: include {grammar}", source="the grammar of the tags")
    said = (
        f"The tags are {grammar.upper()}: rules keep to their grammar (include {grammar}). Leave it out: --no-grammar."
    )
    if rules is None:
        return added, (said,)
    return replace(rules, statements=(*rules.statements, *added.statements)), (said,)


def _check_kind(choice: MethodChoice, method: LearningMethod, corpus: Corpus, source: str) -> None:
    """Raise an error for a tagger with whole texts, a text classifier with sentences, or missing model files."""
    if isinstance(method.classifier, NeedsFiles):
        method.classifier.check_files()
    model, asked = method.classifier.name, f"--preset {choice.preset}" if choice.preset else f"--model {choice.model}"
    if model in TAGGERS and not corpus.is_sequential:
        raise OptionError(
            f"{asked}: {model} tags the tokens of sentences, but {source} contains whole texts. Supply sentences "
            f"(CoNLL, or jsonl with tokens), or leave {asked.split(maxsplit=1)[0]} out."
        )
    if model in TEXT_MODELS and corpus.is_sequential:
        raise OptionError(
            f"{asked}: {model} classifies whole texts, but {source} contains tokenised sentences. Leave "
            f"{asked.split(maxsplit=1)[0]} out, or choose crf or cnn-gru."
        )


def _label_notices(options: TrainOptions, labels: CrowdLabels, corpus: Corpus) -> Iterator[str]:
    yield (
        f"{options.labels}: {pluralise(labels.n_labels, 'label')} of "
        f"{pluralise(len(corpus.items), 'sentence' if corpus.is_sequential else 'item')} by "
        f"{pluralise(len(labels.annotators), 'annotator')}; classes "
        f"{name_list(labels.classes)}."
    )
    yield from labels.intake.messages()
    if labels.annotators.to_list() == [UNNAMED_ANNOTATOR]:
        yield (
            "The labels have no annotator: each is assumed to be right with probability 0.85. List suspect labels with "
            "crowdlogic report RUN after training."
        )
    if find_labelling_functions(labels).any():
        yield (
            "Most labels are by annotators who only give one class, such as labelling functions: "
            "the fit takes into account when they abstain (annotators: abstaining)."
        )
    has_labels = np.zeros(len(labels.items), dtype=bool)
    has_labels[labels.item_of_unit[labels.unit]] = True
    if not has_labels.all():
        bare = pluralise(int(np.count_nonzero(~has_labels)), "item has", "items have")
        yield f"{bare} no labels: answered, but not learnt from."


def _dev_notices(options: TrainOptions, data: TrainingData, method: LearningMethod) -> Iterator[str]:
    dev = data.dev
    if dev is not None:
        yield f"{options.dev}: {len(dev.items):,} dev items for early stopping."
        known, ours = (
            [one.sentence(s) for s in range(len(one.items))] if one.tokens is not None else list(one.texts or ())
            for one in (data.corpus, dev)
        )
        twice = sum(content in set(known) for content in ours)
        if twice:
            yield f"{twice:,} of the dev items are training items, too: their score is too good."
        return
    held_out = method.limits.held_out
    if held_out is None or method.limits.stopping == "fixed":
        yield "No dev items: all epochs are run, and the last one is used."
    elif not holds_out(data.labels, method.limits):
        yield "No dev items: training stops when the answers have settled."
    else:
        refit = "; the model is then refit with all labels" if held_out.refit else ""
        share = f"the labels of {held_out.share:.0%} of the {held_out.unit}"
        yield f"No dev items: {share} are held out for early stopping{refit}."


def _rule_notices(data: TrainingData) -> Iterator[str]:
    """Yield warnings about the rules; raise an error if a rule is wrong."""
    rules, classes = data.rules, data.labels.classes
    if rules is None:
        return
    from crowdlogic.rules.checking import Severity, check
    from crowdlogic.rules.expansion import expand

    found = check(rules, classes=classes, vocabulary=data.vocabulary, corpus=data.corpus)
    for finding in found:
        if finding.severity is Severity.error:
            raise RuleError(str(finding))
    yield f"{rules.source}: {pluralise(len(expand(rules, classes)), 'rule')}."
    yield from (finding.line for finding in found)


HELD_OUT = "held-out log likelihood"
"""Name of the stopping score without dev items."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PreparedTraining:
    """A training that is ready to begin.

    Attributes:
        folder: The folder of the run.
        inputs: The method and the training data.
        resume: Whether to resume the run in the folder.
    """

    folder: Path
    inputs: TrainingInputs
    resume: bool = False

    @property
    def notices(self) -> tuple[str, ...]:
        """Notices on the inputs."""
        return self.inputs.notices

    @property
    def stopping_score(self) -> str:
        """Name of the score for early stopping; empty without early stopping."""
        dev = self.inputs.data.dev
        if dev is not None:
            return f"dev {score_name(dev.classes, sequential=dev.is_sequential)}"
        return HELD_OUT if holds_out(self.inputs.data.labels, self.inputs.method.limits) else ""

    @property
    def has_rules(self) -> bool:
        """Whether rules, or transitions between tags, are used in training."""
        projector = getattr(self.inputs.method, "projector", None)
        if projector is None:
            return False
        return self.inputs.data.rules is not None or projector.rules is not None or projector.transitions is not None

    def train(self, *, callback: EpochCallback | None = None) -> TrainingOutcome:
        """Train and save the run.

        Args:
            callback: Callback, called after each epoch.
        """
        with _interruptible(self.folder), collect_warnings() as warned:
            run = train_run(self.folder, self.inputs.method, self.inputs.data, resume=self.resume, callback=callback)
        clean = self.folder / (CLEAN_TAGS if run.estimate.offsets is not None else CLEAN_LABELS)
        notices = (*warned, *_verdict_notices(run))
        return TrainingOutcome(run=run, clean=clean, notices=notices)


def prepare_training(
    options: TrainOptions,
    folder: str | Path,
    *,
    config: str | None = None,
    resume: bool = False,
    allow_outside: bool = False,
) -> PreparedTraining:
    """Read and check everything that a training needs, before anything is written.

    Args:
        options: The options.
        folder: The folder of the run: new, empty, or with `resume` a run.
        config: A TOML file for options that are not in `options`.
        resume: Whether to resume a run. Its options apply unless others are given.
        allow_outside: Whether rules may name files outside the folder of the rule file. For safety, this cannot be set
            by a run or a TOML file.
    """
    home = Path(folder)
    check_outputs((home,), own=home)
    check_claimable(home, resume=resume)
    known = resolve_options(options, home, config=config, resume=resume)
    inputs = read_training_inputs(known, allow_outside=allow_outside)
    return PreparedTraining(folder=home, inputs=inputs, resume=resume)


def resolve_options(options: TrainOptions, folder: Path, *, config: str | None, resume: bool) -> TrainOptions:
    """Complete the options by those of a TOML file, and then by those of the run that is resumed."""
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
        raise OptionError("There are no labels to learn from. Pass labels and items: --labels FILE --items FILE.")
    return known


@contextmanager
def _interruptible(folder: Path) -> Iterator[None]:
    """Turn Ctrl-C, a full disk or lack of memory into an error that says how to resume the run."""
    try:
        yield
    except KeyboardInterrupt as stop:
        done = last_epoch(folder)
        raise Interrupted(
            f"interrupted after {done}. Resume it with crowdlogic train --resume -o {folder}"
            if done
            else "interrupted before the first epoch was over; nothing is saved."
        ) from stop
    except (OSError, MemoryError) as problem:
        if isinstance(problem, CrowdLogicError):
            raise
        what = "not enough memory"
        if isinstance(problem, OSError):
            what = f"{problem.filename or folder}: {problem.strerror or problem}"
        done = last_epoch(folder) if is_run(folder) else ""
        if not done:
            raise ResourceError(f"{what}. Nothing is saved: make room, and train again.") from problem
        again = f"make room, and go on with it: crowdlogic train --resume -o {folder}"
        raise ResourceError(f"{what}. The run is saved up to {done}: {again}") from problem


def _verdict_notices(run: Run) -> Iterator[str]:
    """Yield one line for each rule whose weight was lowered, or that the labels contradict."""
    if not run.audit:
        return
    from crowdlogic.rules.audit import Outcome

    factors = run.teacher.factors
    for place, one in enumerate(run.audit):
        said = f"{one.place}: {shorten_name(one.rule)}: {one.reason}"
        if factors is not None and one.weight is not None and factors[place] < 1:
            lowered = f"Its weight is now {one.weight * factors[place]:.2g}"
            yield f"{said} {lowered}; to keep the given one, write {one.weight:g}!: or use --keep-weights."
        elif one.outcome is Outcome.contradicts:
            yield said if one.weight is None else f"{said} It keeps its weight of {one.weight:g}, as you asked."


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingOutcome:
    """Result of a training.

    Attributes:
        run: The run.
        clean: The file of its clean labels, for users; the run itself does not need it.
        notices: Warnings of the fit, and rules that the labels contradict.
    """

    run: Run
    clean: Path
    notices: tuple[str, ...]

    @property
    def has_scores(self) -> bool:
        """Whether there was gold to score anything with."""
        return bool(self.run.final.scores)

    @property
    def message(self) -> str:
        """One-sentence summary."""
        learned = self.run
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
        """The basis of the confidence of answers and of predictions, in one line."""
        estimate = self.run.estimate
        expected = None if estimate.calibration is None else expected_accuracy(estimate)
        if expected is None:
            answers = "The confidence of the answers is not calibrated."
        elif expected.n < FEW_ANSWERS:
            answers = f"The confidence of the answers is right {describe_source(expected.calibration)}."
        else:
            answers = describe_mistakes(expected, unit_noun(estimate))
        return f"{answers} {describe_scales(self.run.scales)}"

    def table(self) -> ResultTable:
        """Return the scores by gold."""
        labels = self.run.task.labels
        name = score_name(labels.classes, sequential=labels.is_sequential)
        f1 = self.macro_f1()
        rows = [
            (which, percent(value), *([percent(f1[which])] if f1 else []))
            for which, value in self.run.final.scores.items()
        ]
        which = f"at the chosen epoch ({self.run.chosen})"
        if self.run.averaged_from is not None:
            last = len(self.run.refit_history)
            which = f"with weights averaged over epochs {self.run.averaged_from} to {last}"
        return ResultTable(title=f"{name} {which}", columns=["on", name, *(["macro F1"] if f1 else [])], rows=rows)

    def macro_f1(self) -> dict[str, float]:
        """Return the mean F1 over the classes for each score by gold; empty for span tags, whose score is an F1."""
        learned, task = self.run, self.run.task
        if score_name(task.labels.classes, sequential=task.labels.is_sequential) != "accuracy":
            return {}
        known = dict(task.watched) | ({} if task.dev is None else {"dev": task.dev})
        found = {}
        for which in learned.final.scores:
            name, _, view = which.partition(" ")
            corpus = known.get(name, task.corpus)
            beliefs = predict(learned.classifier, corpus) if view else learned.epoch.targets
            if view == "teacher":
                beliefs = learned.teacher.project(corpus, beliefs, beliefs, learned.classifier)
            if corpus.gold is not None:
                found[which] = macro_f1(corpus.gold, answers(beliefs, corpus.offsets))
        return found

    def figures(self) -> dict[str, Any]:
        """Return the result as plain data."""
        learned = self.run
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
            "macro_f1": self.macro_f1(),
            "confidence": confidence_record(learned),
            "seconds": sum(row.seconds for row in (*learned.history, *learned.refit_history)),
        }


def describe_scales(scales: PredictionScales) -> str:
    """Return the basis of the confidence of predictions on new items, in one sentence."""
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


def train(
    labels: Any,
    items: Any = None,
    *,
    rules: RuleSet | str | Path | Sequence[str] | None = None,
    vocabulary: Vocabulary | None = None,
    grammar: bool = True,
    method: str = DEFAULT_LEARNING_METHOD,
    preset: str | None = None,
    model: Any = None,
    vectors: WordVectors | None = None,
    dev: Any = None,
    anchors: Any = None,
    epochs: int | None = None,
    seed: int | None = None,
    time: str | None = None,
    options: Mapping[str, Any] = MappingProxyType({}),
    out: str | Path | None = None,
    callback: EpochCallback | None = None,
) -> Learned:
    """Learn a classifier, the annotators and the truth together, as the command `train` does.

    Args:
        labels: CrowdLabels, a frame with one row per label, or a file.
        items: The items: a Corpus, a frame, a dictionary item -> text, a list of texts in the order of the labels'
            items, or a file; None where the labels have the texts beside them.
        rules: Rules as text, a list of texts, a Path, or the result of `read_rules`.
        vocabulary: Predicates that the rules use beyond the built-in ones.
        grammar: Whether the grammar of span tags is added to the rules. Presets ignore this option.
        method: The name of a learning method.
        preset: The name of the configuration to start from.
        model: A name, a classifier, a scikit-learn estimator, a `torch.nn.Module`, a function from items to
            probabilities, or a Hugging Face folder. None for that of the preset; without a preset, the classifier that
            predicts held-out crowd labels best is chosen.
        vectors: Word vectors for a classifier that takes them.
        dev: Items with gold for early stopping: a Corpus, a frame or a file. Without any, labels are held out.
        anchors: Items whose truth is known, as item -> class (or tags), or a file.
        epochs: Maximum number of epochs.
        seed: Random seed.
        time: Time that the training may take where the classifier is chosen, such as 90s, 5m (the default) or 1h.
        options: Further options of the method, nested, as `--set` takes them: {"projector": {"strength": 4.0}}.
        out: A new folder to save the run in.
        callback: Callback, called after each epoch.
    """
    if isinstance(labels, str | Path):
        crowd = read_crowd(labels, ReadOptions(single=True))
        if items is None and crowd.corpus is None:
            raise OptionError(
                f"{labels}: this file contains labels but no texts. Pass the items: train(labels, items)."
            )
        labels, items = crowd.labels, crowd.corpus if items is None else items
    if isinstance(items, str | Path):
        items = read_corpus(items)
    if isinstance(items, Corpus) and isinstance(labels, CrowdLabels):
        labels, items = align(labels, items)
    corpus, labels = to_training_set(labels, None) if items is None else to_training_set(items, labels)
    limits = {name: value for name, value in (("epochs", epochs), ("seed", seed)) if value is not None}
    choice = MethodChoice(
        method=method,
        preset=preset,
        model=model,
        vectors=vectors,
        changes=merge_changes(options, {"limits": limits} if limits else {}),
    )
    choice, _ = complete_choice(choice, labels, corpus, time=time)
    configured: Any
    configured, preset_rules = configure_method(choice, labels.classes)
    given = preset_rules if rules is None else as_rules(rules)
    if grammar and preset is None:
        given, _ = _with_grammar(given, labels, configured)
    _check_kind(choice, configured, corpus, "items")
    learned: Learned = configured.fit(
        corpus,
        labels,
        rules=given,
        vocabulary=vocabulary,
        dev=read_corpus(dev) if isinstance(dev, str | Path) else dev,
        anchors=anchors_of(read_answers(anchors), labels) if isinstance(anchors, str | Path) else anchors,
        save=out,
        callback=callback,
    )
    return learned
