"""Check rules, judge them by labels, and suggest new ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from crowdlogic.data.blocks import anchor_classes
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.files import write_bytes
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import Classes
from crowdlogic.data.wording import pluralise, shorten_name
from crowdlogic.errors import OptionError, RuleError, name_list
from crowdlogic.learning.rule_suggestions import MOST, Progress, SuggestedRules, suggest_rules
from crowdlogic.learning.rule_verdicts import fit_without_rules, judge_rules
from crowdlogic.numerics.arrays import Ints
from crowdlogic.rules.audit import RuleVerdict
from crowdlogic.rules.checking import Finding, check
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.parser import find_syntax_errors, read_rules
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.workflows.aggregate import anchors_of
from crowdlogic.workflows.inputs import InputOptions, ResultTable, check_outputs, percent, read_vocabulary

DEFAULT_STRENGTH = Projector().strength


@dataclass(frozen=True, kw_only=True)
class CheckRulesOptions:
    """The options of `check_rules`.

    Attributes:
        rules: The rule file.
        labels: A file of labels, for their classes.
        items: A file of items.
        tables: Facts for predicates, as Name=file.
        allow_outside: Whether rules may name files outside the folder of the rule file.
        input: Options for reading labels and items.
    """

    rules: str
    labels: str | None = None
    items: str | None = None
    tables: tuple[str, ...] = ()
    allow_outside: bool = False
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, kw_only=True, eq=False)
class CheckedRules:
    """Rules, and the errors and warnings about them.

    Attributes:
        rules: The rules, with ready-made sets expanded.
        findings: The errors and warnings.
        source: The rule file.
    """

    rules: RuleSet
    findings: Sequence[Finding]
    source: str

    @property
    def message(self) -> str:
        """One-sentence summary."""
        return f"{self.source}: {pluralise(len(self.rules), 'rule')}, {pluralise(len(self.findings), 'finding')}"

    def figures(self) -> list[dict[str, Any]]:
        """Return the findings as plain data."""
        return [{"severity": one.severity, "place": str(one.place), "message": one.what} for one in self.findings]


def check_rules(options: CheckRulesOptions) -> CheckedRules:
    """Check a rule file: names, arities, classes, contradictions, duplicates, rules that never ground."""
    try:
        rules = read_rules(options.rules, allow_outside=options.allow_outside)
    except RuleError:
        problems = find_syntax_errors(options.rules, allow_outside=options.allow_outside)
        if len(problems) < 2:
            raise
        raise RuleError("\n".join(map(str, problems))) from None
    # The classes and the items, as far as they are known; labels without texts provide the classes only
    classes: Classes | None = None if options.input.classes is None else tuple(options.input.classes)
    corpus = None
    if options.labels is not None:
        labels, items = _read_labelled(options.labels, options.items, options.input)
        classes = labels.classes
        if options.items is not None or items.texts is not None or items.tokens is not None:
            corpus = items
    elif options.items is not None:
        corpus = options.input.read_corpus(options.items)
        classes = classes or corpus.classes or None
    found = check(rules, classes=classes, vocabulary=read_vocabulary(options.tables), corpus=corpus)
    return CheckedRules(rules=expand(rules, classes), findings=found, source=options.rules)


def _read_labelled(labels: str, items: str | None, input: InputOptions) -> tuple[CrowdLabels, Corpus]:
    """Read labels and their items; the items have no texts if no file contains them."""
    crowd = input.read_labelled(labels, input.items_file(items))
    return crowd.labels, crowd.corpus or Corpus(items=crowd.labels.items, offsets=crowd.labels.offsets)


@dataclass(frozen=True, kw_only=True)
class AuditRulesOptions:
    """The options of `audit_rules`.

    Attributes:
        rules: The rule file.
        labels: The file of labels.
        items: The file of items.
        anchors: Items whose truth is known.
        strength: Strength of the rules (C); None for that of the run, or 5.
        run: The folder of a run, for its classes and its strength.
        tables: Facts for predicates, as Name=file.
        allow_outside: Whether rules may name files outside the folder of the rule file.
        input: Options for reading labels and items.
    """

    rules: str
    labels: str
    items: str | None = None
    anchors: str | None = None
    strength: float | None = None
    run: str | None = None
    tables: tuple[str, ...] = ()
    allow_outside: bool = False
    input: InputOptions = field(default_factory=InputOptions)


def _read_gold(options: AuditRulesOptions | SuggestRulesOptions, labels: CrowdLabels) -> Ints | None:
    """Return gold[i], the classes of the units whose truth is known; None without anchors."""
    if options.anchors is None:
        return None
    by_file = options.input.by_file(options.labels, options.items, options.anchors)
    return anchor_classes(labels, anchors_of(by_file[options.anchors].read_answers(options.anchors), labels))


@dataclass(frozen=True, kw_only=True, eq=False)
class AuditedRules:
    """Verdicts on rules.

    Attributes:
        title: The rule file and the file of labels.
        audits: The verdicts.
        notices: Notices on facts and on the fit.
    """

    title: str
    audits: Sequence[RuleVerdict]
    notices: tuple[str, ...]

    def table(self) -> ResultTable:
        """Return one row per rule."""
        names = ["rule", "groundings", "coverage", "holds", "95 %", "by chance", "weight", "verdict"]
        rows = [
            (
                shorten_name(one.rule),
                one.groundings,
                percent(one.coverage),
                percent(one.holds),
                f"{percent(one.low)} to {percent(one.high)}",
                percent(one.chance),
                "hard" if one.new_weight is None else f"{one.new_weight:.2g}",
                one.outcome,
            )
            for one in self.audits
        ]
        return ResultTable(title=self.title, columns=names, rows=rows)

    @property
    def reasons(self) -> tuple[str, ...]:
        """One sentence on each rule."""
        return tuple(f"{shorten_name(one.rule)}: {one.reason}" for one in self.audits)

    def figures(self) -> list[dict[str, Any]]:
        """Return the verdicts as plain data."""
        return [asdict(one) | {"reason": one.reason} for one in self.audits]


def audit_rules(options: AuditRulesOptions) -> AuditedRules:
    """Judge each rule by the labels: whether it helps, has no effect, contradicts them, or cannot be judged."""
    labels, corpus = _read_labelled(options.labels, options.items, options.input)
    strength = DEFAULT_STRENGTH if options.strength is None else options.strength
    if options.run is not None:
        from crowdlogic.learning.saved_run import load_run

        run = load_run(options.run)
        own = run.estimate.classes
        unknown = [name for name in labels.classes if str(name) not in {str(one) for one in own}]
        if unknown:
            raise OptionError(
                f"{options.labels}: the run {options.run} does not know the class {unknown[0]!r}; its classes are "
                f"{name_list(own)}. Name a run with the classes of the labels."
            )
        labels = labels.with_classes(own)
        strength = run.teacher.projector.strength if options.strength is None else strength
    corpus = corpus.with_classes(labels.classes)
    gold = _read_gold(options, labels)
    projector = Projector(
        rules=read_rules(options.rules, allow_outside=options.allow_outside),
        vocabulary=read_vocabulary(options.tables),
        strength=strength,
    )
    ground = projector.ground(corpus, labels.classes)
    fit = fit_without_rules(labels, corpus, gold=gold)
    return AuditedRules(
        title=f"{options.rules} on {options.labels}",
        audits=judge_rules(ground, fit, strength=strength),
        notices=(*(one.line for one in ground.notices), *fit.notices),
    )


@dataclass(frozen=True, kw_only=True)
class SuggestRulesOptions:
    """The options of `suggest_rules_for`.

    Attributes:
        labels: The file of labels.
        items: The file of items.
        out: The rule file to write; "-" for standard output.
        anchors: Items whose truth is known.
        run: The folder of a run, whose rules are not suggested again.
        most: Maximum number of rules.
        seed: Random seed.
        input: Options for reading labels and items.
    """

    labels: str
    items: str | None = None
    out: str
    anchors: str | None = None
    run: str | None = None
    most: int = MOST
    seed: int = 0
    input: InputOptions = field(default_factory=InputOptions)


@dataclass(frozen=True, kw_only=True, eq=False)
class WrittenSuggestions:
    """Suggested rules, and the file that they were written to.

    Attributes:
        suggested: The rules.
        out: The rule file.
        notices: Notices on the suggestions.
    """

    suggested: SuggestedRules
    out: str
    notices: tuple[str, ...]

    @property
    def message(self) -> str:
        """One-sentence summary."""
        count = pluralise(len(self.suggested.suggestions), "suggested rule")
        return f"{count} -> {self.out}. Read each one; then: crowdlogic train --rules {self.out}"

    def table(self) -> ResultTable:
        """Return one row per rule."""
        names = ["rule", "shape", "units", "holds", "by chance"]
        found = [(one.rule, one.shape, one.verdict) for one in self.suggested.suggestions]
        rows = [(shorten_name(rule), shape, v.units, percent(v.holds), percent(v.chance)) for rule, shape, v in found]
        return ResultTable(title="Suggested rules", columns=names, rows=rows)

    def figures(self) -> list[dict[str, Any]]:
        """Return the suggestions as plain data."""
        return [
            asdict(one.verdict)
            | {
                "rule": one.rule,
                "shape": one.shape,
                "examples": list(one.examples),
                "counterexamples": list(one.counterexamples),
            }
            for one in self.suggested.suggestions
        ]


def suggest_rules_for(options: SuggestRulesOptions, *, progress: Progress | None = None) -> WrittenSuggestions:
    """Suggest rules from labelled items, and write them as a rule file."""
    check_outputs((options.out,), read=(options.labels, options.items, options.anchors, options.run))
    labels, corpus = _read_labelled(options.labels, options.items, options.input)
    gold = _read_gold(options, labels)
    suggested = suggest_rules(labels, corpus, gold=gold, most=options.most, seed=options.seed, progress=progress)
    if options.run is not None:
        from crowdlogic.learning.saved_run import load_run

        teacher = load_run(options.run).teacher
        rules = teacher.projector.rules
        suggested = suggested if rules is None else suggested.without(expand(rules, teacher.classes))
    write_bytes(options.out, suggested.text().encode())
    return WrittenSuggestions(suggested=suggested, out=options.out, notices=suggested.notices)
