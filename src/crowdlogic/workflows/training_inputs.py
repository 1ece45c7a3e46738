"""What `train` reads: labels, items, rules, vectors; and what a person should know of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np

from crowdlogic.classifiers.packaged_encoders import find_folder
from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.vectors import WordVectors, concatenate_vectors, read_vectors
from crowdlogic.data.wording import pluralise
from crowdlogic.errors import OptionError, RuleError, name_list
from crowdlogic.learning.configuration import MethodChoice, configure_method
from crowdlogic.learning.method import LearningMethod, TrainingData
from crowdlogic.registry import DEFAULT_LEARNING_METHOD
from crowdlogic.rules.checking import check
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.findings import Severity
from crowdlogic.rules.grammar import find_grammar, includes_grammar
from crowdlogic.rules.parser import parse_rules, read_rules
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.workflows.inputs import InputOptions, read_vocabulary
from crowdlogic.workflows.tables import percent
from crowdlogic.workflows.train_options import TrainOptions
from crowdlogic.workflows.truth_methods import anchors_of

if TYPE_CHECKING:  # its module needs torch
    from crowdlogic.classifiers.word_network import WordArchitecture


TAGGERS, TEXT_MODELS = ("cnn-gru", "bilstm-crf", "crf"), ("kim-cnn",)
"""Classifiers that take sentences only, and those that take whole texts only."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TrainingInputs:
    """What a training needs.

    Attributes:
        method: What to fit.
        data: What to fit it to.
        notices: What a person should know of both before it begins.
    """

    method: LearningMethod
    data: TrainingData
    notices: tuple[str, ...]


def read_training_inputs(options: TrainOptions, *, allow_outside: bool = False) -> TrainingInputs:
    """Read the files that the options name, and choose the method.

    Args:
        options: The options.
        allow_outside: Whether rules may name files that are not beside or below the rule file.
    """
    by_file = options.input.by_file(str(options.labels), options.items, options.dev, options.test, options.anchors)
    labels, corpus = _read_labelled(options, by_file)
    dev, test = (None if path is None else by_file[path].read_corpus(path) for path in (options.dev, options.test))
    anchors = None
    if options.anchors is not None:
        anchors = anchors_of(by_file[options.anchors].read_answers(options.anchors), labels)
    vectors = _read_vectors(options.vectors)
    choice = MethodChoice(
        method=options.method or DEFAULT_LEARNING_METHOD,
        preset=options.preset,
        model=options.model,
        vectors=vectors,
        changes=options.changes,
        device=options.device,
    )
    method, preset_rules = configure_method(choice, labels.classes)
    rules = preset_rules if options.rules is None else read_rules(options.rules, allow_outside=allow_outside)
    rules, grammar_notices = _with_grammar(rules, labels, options, method)
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
    notices = (
        *_label_notices(options, labels, corpus),
        *_anchor_notices(options, data),
        *_dev_notices(options, data, method),
        *grammar_notices,
        *_rule_notices(data),
        *_vector_notices(options, vectors, corpus, method),
    )
    return TrainingInputs(method=method, data=data, notices=notices)


def _read_labelled(options: TrainOptions, by_file: Mapping[str, InputOptions]) -> tuple[CrowdLabels, Corpus]:
    """The labels and the items they are of."""
    path = str(options.labels)
    crowd = by_file[path].read_crowd(path)
    if options.items is not None:
        return align(crowd.labels, by_file[options.items].read_corpus(options.items))
    if crowd.corpus is None:
        raise OptionError(f"{path} holds labels and no texts. Give the items: --items FILE.")
    return crowd.labels, crowd.corpus


def _with_grammar(
    rules: RuleSet | None, labels: CrowdLabels, options: TrainOptions, method: LearningMethod
) -> tuple[RuleSet | None, tuple[str, ...]]:
    """The rules with the grammar of the tags, unless they have it, a preset decides, or the method takes no rules."""
    grammar = find_grammar(labels)
    decided = options.preset is not None or not options.grammar or not hasattr(method, "projector")
    if grammar is None or decided or (rules is not None and includes_grammar(rules)):
        return rules, ()
    added = parse_rules(f"1.0: include {grammar}", source="the grammar of the tags")
    said = (
        f"The tags are {grammar.upper()}: rules keep to their grammar (include {grammar}). Leave it out: --no-grammar."
    )
    if rules is None:
        return added, (said,)
    return replace(rules, statements=(*rules.statements, *added.statements)), (said,)


def _check_kind(choice: MethodChoice, method: LearningMethod, corpus: Corpus, source: str) -> None:
    """Refuse a tagger for texts, a classifier of texts for sentences and a transformer that is not there."""
    folder: str | None = getattr(method.classifier, "folder", None)
    if folder is not None:
        find_folder(folder)
    model, asked = method.classifier.name, f"--preset {choice.preset}" if choice.preset else f"--model {choice.model}"
    if model in TAGGERS and not corpus.is_sequential:
        raise OptionError(
            f"{asked}: {model} tags the tokens of sentences, and {source} holds whole texts. Give sentences (CoNLL, or "
            f"jsonl with tokens), or leave {asked.split(maxsplit=1)[0]} out."
        )
    if model in TEXT_MODELS and corpus.is_sequential:
        raise OptionError(
            f"{asked}: {model} classifies whole texts, and {source} holds sentences of tokens. Leave "
            f"{asked.split(maxsplit=1)[0]} out, or choose crf or cnn-gru."
        )


def _read_vectors(paths: Sequence[str]) -> WordVectors | None:
    """The word vectors of all files, side by side; None without a file."""
    sets = [read_vectors(path) for path in paths]
    return concatenate_vectors(*sets) if len(sets) > 1 else sets[0] if sets else None


def _label_notices(options: TrainOptions, labels: CrowdLabels, corpus: Corpus) -> Iterator[str]:
    yield (
        f"{options.labels}: {pluralise(labels.n_labels, 'label')} of "
        f"{pluralise(len(corpus.items), 'sentence' if corpus.is_sequential else 'item')} by "
        f"{pluralise(len(labels.annotators), 'annotator')}; classes "
        f"{name_list(labels.classes)}."
    )
    yield from labels.intake.messages()
    has_labels = np.zeros(len(labels.items), dtype=bool)
    has_labels[labels.item_of_unit[labels.unit]] = True
    if not has_labels.all():
        bare = pluralise(int(np.count_nonzero(~has_labels)), "item has", "items have")
        yield f"{bare} no labels: answered, but not learnt from."


def _anchor_notices(options: TrainOptions, data: TrainingData) -> Iterator[str]:
    if data.anchors is not None:
        yield f"{options.anchors}: the truth of {pluralise(len(data.anchors), 'item')} is known, and learnt from."


def _dev_notices(options: TrainOptions, data: TrainingData, method: LearningMethod) -> Iterator[str]:
    dev = data.dev
    if dev is not None:
        yield f"{options.dev}: {len(dev.items):,} dev items for early stopping."
        known = set(_contents(data.corpus))
        twice = sum(content in known for content in _contents(dev))
        if twice:
            yield f"{twice:,} of the dev items are training items, too: their score is too good."
        return
    held_out = method.limits.held_out
    if held_out is None:
        yield "No dev items: all epochs are run, and the last one is used."
    else:
        refit = "; the model is then refit with all labels" if held_out.refit else ""
        share = f"the labels of {held_out.share:.0%} of the {held_out.unit}"
        yield f"No dev items: {share} are held out for early stopping{refit}."


def _contents(corpus: Corpus) -> list[str] | list[tuple[str, ...]]:
    """The text or the tokens of each item."""
    if corpus.tokens is not None:
        return [corpus.sentence(s) for s in range(len(corpus.items))]
    return list(corpus.texts or ())


def _rule_notices(data: TrainingData) -> Iterator[str]:
    """What is odd about the rules; what is wrong with them stops the training before it begins."""
    rules, classes = data.rules, data.labels.classes
    if rules is None:
        return
    found = check(rules, classes=classes, vocabulary=data.vocabulary, corpus=data.corpus)
    for finding in found:
        if finding.severity is Severity.error:
            raise RuleError(str(finding))
    yield f"{rules.source}: {pluralise(len(expand(rules, classes)), 'rule')}."
    yield from (finding.line for finding in found)


def _vector_notices(
    options: TrainOptions, vectors: WordVectors | None, corpus: Corpus, method: LearningMethod
) -> Iterator[str]:
    if vectors is not None:
        model = cast("WordArchitecture", method.classifier)  # no other classifier takes vectors
        share = vectors.coverage(model.tokenize(corpus).words, exact=model.case_sensitive)
        yield f"{', '.join(options.vectors)}: {vectors.size} dimensions; {percent(share)} of the words have a vector."
