"""Rules before they are used: what is wrong with them, and what each one would do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from crowdlogic.classifiers.protocol import AbsentClassifier, predict_texts, predict_units
from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.estimate import Beliefs
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes
from crowdlogic.data.wording import pluralise, shorten_name
from crowdlogic.errors import OptionError, name_list
from crowdlogic.rules.audit import RuleAudit, audit, explain_verdict
from crowdlogic.rules.checking import Finding, check
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.grounding import GroundRules
from crowdlogic.rules.parser import read_rules
from crowdlogic.rules.projection.projector import Predict, Projector
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.truth.methods import truth_method
from crowdlogic.workflows.aggregate import collect_convergence_warnings
from crowdlogic.workflows.inputs import InputOptions, ResultTable, percent, read_vocabulary


@dataclass(frozen=True, kw_only=True)
class CheckRulesOptions:
    """The options of `check_rules`.

    Attributes:
        rules: The rule file.
        labels: A file of labels, for their classes.
        items: A file of items.
        tables: Facts for predicates, as Name=file.
        allow_outside: Whether rules may name files that are not beside or below the rule file.
        input: How labels and items are read.
    """

    rules: str
    labels: str | None = None
    items: str | None = None
    tables: tuple[str, ...] = ()
    allow_outside: bool = False
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, kw_only=True, eq=False)
class CheckedRules:
    """Rules, and what is odd or wrong about them.

    Attributes:
        rules: The rules, ready-made sets expanded.
        findings: What was found.
        source: The rule file.
    """

    rules: RuleSet
    findings: Sequence[Finding]
    source: str

    @property
    def message(self) -> str:
        """The outcome in one sentence."""
        return f"{self.source}: {pluralise(len(self.rules), 'rule')}, {pluralise(len(self.findings), 'finding')}"

    def figures(self) -> list[dict[str, Any]]:
        """The findings as plain data."""
        return [{"severity": one.severity, "place": str(one.place), "message": one.what} for one in self.findings]


def check_rules(options: CheckRulesOptions) -> CheckedRules:
    """Check a rule file: names, arities, classes, contradictions, duplicates, rules that never ground."""
    rules = read_rules(options.rules, allow_outside=options.allow_outside)
    classes, corpus = _known_classes_and_items(options)
    found = check(rules, classes=classes, vocabulary=read_vocabulary(options.tables), corpus=corpus)
    return CheckedRules(rules=expand(rules, classes), findings=found, source=options.rules)


def _known_classes_and_items(options: CheckRulesOptions) -> tuple[Classes | None, Corpus | None]:
    """The classes and the items, as far as they are known: labels without text give the classes only."""
    named = None if options.input.classes is None else tuple(options.input.classes)
    if options.labels is not None:
        labels, corpus = _read_labelled(options.labels, options.items, options.input)
        has_content = options.items is not None or corpus.texts is not None or corpus.tokens is not None
        return labels.classes, corpus if has_content else None
    if options.items is None:
        return named, None
    corpus = options.input.read_corpus(options.items)
    return named or corpus.classes or None, corpus


def _read_labelled(labels: str, items: str | None, input: InputOptions) -> tuple[CrowdLabels, Corpus]:
    """The labels and the items they are about; items without text where no file gives any."""
    by_file = input.by_file(labels, items)
    crowd = by_file[labels].read_crowd(labels)
    if items is not None:
        return align(crowd.labels, by_file[items].read_corpus(items))
    return crowd.labels, crowd.corpus or Corpus(items=crowd.labels.items, offsets=crowd.labels.offsets)


@dataclass(frozen=True, kw_only=True)
class AuditRulesOptions:
    """The options of `audit_rules`.

    Attributes:
        rules: The rule file.
        labels: The file of labels.
        items: The file of items.
        method: The truth method that gives the crowd's posterior.
        strength: How strongly rules pull (C).
        run: The folder of a run, whose classifier answers rules that ask one.
        tables: Facts for predicates, as Name=file.
        allow_outside: Whether rules may name files that are not beside or below the rule file.
        input: How labels and items are read.
    """

    rules: str
    labels: str
    items: str | None = None
    method: str = "dawid-skene"
    strength: float = 5.0
    run: str | None = None
    tables: tuple[str, ...] = ()
    allow_outside: bool = False
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditedRules:
    """What each rule does.

    Attributes:
        title: What was audited.
        method: The truth method whose answers were audited.
        audits: One for each rule.
        notices: What a person should know.
    """

    title: str
    method: str
    audits: Sequence[RuleAudit]
    notices: tuple[str, ...]

    def table(self) -> ResultTable:
        """One row per rule."""
        names = ["rule", "groundings", "coverage", "holds", "95 %", "nats", "flips", "right", "wrong", "verdict"]
        return ResultTable(title=self.title, columns=names, rows=[_audit_row(one) for one in self.audits])

    @property
    def reasons(self) -> tuple[str, ...]:
        """The verdict on each rule in a sentence."""
        return tuple(f"{shorten_name(one.rule)}: {explain_verdict(one, answers_of=self.method)}" for one in self.audits)

    def figures(self) -> list[dict[str, Any]]:
        """The same as plain data."""
        return [asdict(one) | {"reason": explain_verdict(one, answers_of=self.method)} for one in self.audits]


def _audit_row(one: RuleAudit) -> tuple[Any, ...]:
    return (
        shorten_name(one.rule),
        one.groundings,
        percent(one.coverage),
        percent(one.satisfaction),
        f"{percent(one.low)} to {percent(one.high)}",
        one.moved,
        one.flipped,
        one.flipped_right,
        one.flipped_wrong,
        one.verdict,
    )


def audit_rules(options: AuditRulesOptions) -> AuditedRules:
    """Audit each rule: what it touches, how far the crowd agrees, what it flips, and whether it helps."""
    labels, corpus = _read_labelled(options.labels, options.items, options.input)
    answers = ClassifierAnswers() if options.run is None else ask_run(options.run, labels, corpus)
    labels = labels.with_classes(answers.classes or labels.classes)
    corpus = corpus.with_classes(labels.classes)
    projector = Projector(
        rules=read_rules(options.rules, allow_outside=options.allow_outside),
        vocabulary=read_vocabulary(options.tables),
        strength=options.strength,
    )
    ground = projector.ground(corpus, labels.classes)
    ground, left_out = leave_out_unanswered(ground, answers)
    with collect_convergence_warnings() as warned:
        beliefs = infer_calibrated(truth_method(options.method), labels, corpus).beliefs
        audits = audit(projector, beliefs, ground, predict=answers.predict, classifier=answers.units, gold=corpus.gold)
    return AuditedRules(
        title=f"{options.rules} on {options.labels} ({options.method})",
        method=options.method,
        audits=audits,
        notices=(*left_out, *(one.line for one in ground.notices), *warned),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class ClassifierAnswers:
    """What a run's classifier says, as far as it can be asked.

    Attributes:
        predict: Of derived texts; None where it cannot be asked.
        units: Of the items; None where it cannot be asked.
        classes: Its classes.
        why: What to do where it cannot be asked.
    """

    predict: Predict | None = None
    units: Beliefs | None = None
    classes: Classes = ()
    why: str = "Give one with --run RUN."


def leave_out_unanswered(ground: GroundRules, answers: ClassifierAnswers) -> tuple[GroundRules, list[str]]:
    """The rules whose questions the classifier answers, and a notice for each of the others."""
    kept, left_out = [], []
    for place, rule in enumerate(ground.rules):
        alone = ground.only([place])
        asked = answers.predict if alone.texts else answers.units
        if rule.is_static or asked is not None:
            kept.append(place)
            continue
        text = shorten_name(rule.rule)
        left_out.append(
            f"{rule.rule.place}: the rule {text} asks a classifier (Predicted) and is left out. {answers.why}"
        )
    return ground.only(kept), left_out


def ask_run(folder: str, labels: CrowdLabels, corpus: Corpus) -> ClassifierAnswers:
    """The classifier of a run; what it said of the training items, where the run does not hold it."""
    from crowdlogic.learning.saved_run import load_run

    run = load_run(folder)
    unknown = [name for name in labels.classes if str(name) not in {str(own) for own in run.estimate.classes}]
    if unknown:
        raise OptionError(f"{folder} knows no class {unknown[0]!r}: its classes are {name_list(run.estimate.classes)}.")
    if isinstance(run.classifier, AbsentClassifier):
        of_training = run.learned.task.corpus
        same = of_training.items.equals(corpus.items) and of_training.n_units == corpus.n_units
        return ClassifierAnswers(
            units=run.learned.epoch.p if same else None,
            classes=run.estimate.classes,
            why=f"{run.classifier.message} What it did in training: crowdlogic.load_run({folder!r}).rule_table().",
        )
    return ClassifierAnswers(
        predict=lambda texts: predict_texts(run.classifier, texts),
        units=predict_units(run.classifier, corpus),
        classes=run.estimate.classes,
    )
