"""Verdicts on planted rules, and suggestions that nothing in a text can turn into syntax."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from benchmarks.rule_suggestions import PLANTED_TAGS, PLANTED_TEXTS, draw_sentences, draw_texts, is_planted
from benchmarks.rule_verdicts import draw_planted, judge, label_corpus

from crowdlogic.data.corpus import UNKNOWN, Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.rule_suggestions import comment, suggest_rules
from crowdlogic.learning.rule_verdicts import fit_without_rules, judge_rules
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.rules import Projector, parse_rules
from crowdlogic.rules.audit import Outcome, verdict_table


@pytest.mark.parametrize("kind", ["documents", "tags"])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_planted_rules_get_their_verdicts_from_a_strong_crowd(kind: str, classes: int) -> None:
    verdicts = judge(draw_planted(0, kind, classes, "strong", gold=False))

    assert [one.outcome for one in verdicts] == [Outcome.helps, Outcome.no_effect, Outcome.contradicts]
    good, useless, harmful = (one.factor for one in verdicts)
    assert good == 1.0
    assert useless < 0.2
    assert harmful == 0.0


def test_the_share_of_cases_in_which_a_rule_holds_is_the_planted_one() -> None:
    good, useless, harmful = judge(draw_planted(1, "documents", 3, "strong", gold=False))

    assert good.low - 0.02 <= 0.92 <= good.high + 0.02
    assert harmful.low - 0.02 <= 0.08 <= harmful.high + 0.02
    assert useless.low <= useless.chance <= useless.high


@pytest.mark.parametrize(("mark", "kept"), [("", 0.0), ("!", 1.0)])
def test_a_harmful_rule_loses_its_weight_unless_the_user_insists(mark: str, kept: float) -> None:
    planted = draw_planted(0, "documents", 3, "strong", gold=False)
    rules = parse_rules(planted.rules[0] + "\n" + planted.rules[2].replace("1.0:", f"1.0{mark}:"))

    learned = LogicLNCL(limits=TrainingLimits(epochs=2)).fit(planted.corpus, planted.labels, rules=rules)

    assert [one.outcome for one in learned.verdicts or ()] == [Outcome.helps, Outcome.contradicts]
    assert [one.new_weight for one in learned.verdicts or ()] == [1.0, kept]
    factors = learned.teacher.factors
    assert (1.0 if factors is None else factors[1]) == kept


@pytest.mark.parametrize(("mark", "kept"), [("", 0.0), ("!", 1.0)])
def test_a_transition_that_the_labels_contradict_loses_its_weight(mark: str, kept: float) -> None:
    planted = draw_planted(0, "tags", 3, "strong", gold=False)
    rules = parse_rules(
        "1.0: Label(T, 'I-X') & Previous(T, P) -> Label(P, 'B-X') | Label(P, 'I-X')\n"
        f"1.0{mark}: Label(T, 'I-X') & Previous(T, P) -> Label(P, 'O')\n"
    )

    learned = LogicLNCL(limits=TrainingLimits(epochs=2)).fit(planted.corpus, planted.labels, rules=rules)

    assert [one.outcome for one in learned.verdicts or ()] == [Outcome.helps, Outcome.contradicts]
    assert [one.new_weight for one in learned.verdicts or ()] == [1.0, kept]


def test_a_rule_that_hardly_ever_holds_contradicts_the_labels_however_rare_its_class_is() -> None:
    # the class X is given to 3 % of the units, and to none of those with the word
    truth = np.where(np.arange(2000) % 33 == 0, 1, 0)
    texts = tuple("word here" if t == 0 and i % 3 == 0 else "other" for i, t in enumerate(truth))
    names = pl.Series([f"i{i}" for i in range(len(truth))])
    corpus = Corpus(names, texts=texts, classes=("O", "X"))
    labels = CrowdLabels(
        unit=np.repeat(np.arange(len(truth)), 3),
        annotator=np.tile(np.arange(3), len(truth)),
        label=np.repeat(truth, 3).astype(np.int32),
        items=names,
        annotators=pl.Series(["a", "b", "c"]),
        classes=corpus.classes,
    )
    rules = Projector(rules=parse_rules("1.0: Contains(S, 'word') -> Label(S, 'X')")).ground(corpus, labels.classes)

    (one,) = judge_rules(rules, fit_without_rules(labels, corpus))

    assert one.chance < 0.05
    assert (one.outcome, one.new_weight) == (Outcome.contradicts, 0.0)


def test_gold_settles_what_the_labels_cannot() -> None:
    planted = draw_planted(0, "documents", 2, "weak", gold=False)
    noise = np.random.default_rng(0).integers(2, size=planted.labels.n_labels).astype(np.int32)
    labels = replace(planted.labels, label=noise)
    rules = Projector(rules=parse_rules("\n".join(planted.rules))).ground(planted.corpus, labels.classes)

    without = judge_rules(rules, fit_without_rules(labels, planted.corpus))
    known = np.where(np.arange(labels.n_units) < 400, np.asarray(planted.corpus.gold), UNKNOWN)
    settled = judge_rules(rules, fit_without_rules(labels, planted.corpus, gold=known))

    assert {without[0].outcome, without[2].outcome} <= {Outcome.cannot_tell, Outcome.no_effect}
    assert (settled[0].outcome, settled[2].outcome) == (Outcome.helps, Outcome.contradicts)
    assert settled[0].by_gold


def test_a_verdict_has_a_sentence_and_a_lowered_weight_a_line() -> None:
    verdicts = judge(draw_planted(0, "documents", 3, "strong", gold=False))

    table = verdict_table(verdicts)

    assert table["verdict"].to_list() == ["helps", "no effect", "contradicts the labels"]
    assert all(table["reason"].str.ends_with("."))


def _labelled(texts: list[str], truth: np.ndarray, seed: int = 0) -> tuple[CrowdLabels, Corpus]:
    rng = np.random.default_rng(seed)
    unit = np.repeat(np.arange(len(texts)), 3)
    label = np.where(rng.random(len(unit)) < 0.85, truth[unit], 1 - truth[unit]).astype(np.int32)
    items = pl.Series([f"i{i}" for i in range(len(texts))])
    annotators = pl.Series(["a", "b", "c"])
    labels = CrowdLabels(
        unit=unit, annotator=np.tile(np.arange(3), len(texts)), label=label, items=items, annotators=annotators,
        classes=("no", "yes"),
    )  # fmt: skip
    return labels, Corpus(items, texts=tuple(texts))


@pytest.mark.parametrize("word", ["refund", "退款", "استرداد", "Rückerstattung"])
def test_a_planted_word_is_suggested_in_any_script(word: str) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=400).astype(np.int32)
    texts = [f"w{rng.integers(40)} {word if k and rng.random() < 0.7 else 'thanks'} w{rng.integers(40)}" for k in truth]
    labels, corpus = _labelled(texts, truth)

    found = suggest_rules(labels, corpus)

    assert word.lower() in found.suggestions[0].rule or "thanks" in found.suggestions[0].rule
    assert any(word.lower() in one.rule for one in found.suggestions) or len(found.suggestions) == 1


def test_planted_rules_of_five_shapes_are_suggested() -> None:
    for draw, planted in ((draw_texts, PLANTED_TEXTS), (draw_sentences, PLANTED_TAGS)):
        rng = np.random.default_rng(0)
        corpus = draw(rng, 2000 if draw is draw_texts else 600)

        suggestions = suggest_rules(label_corpus(rng, corpus, "strong"), corpus).suggestions[:20]

        for shape, words in planted.items():
            assert any(is_planted(one, shape, words) for one in suggestions), shape


def test_neighbours_and_thresholds_are_suggested_for_items_with_features() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(3, size=600).astype(np.int32)
    x = rng.normal(size=(600, 4)) + 4.0 * np.stack([truth == 0, truth == 1, truth == 2, truth == 3], axis=1)
    names = pl.Series([f"i{i}" for i in range(600)])
    corpus = Corpus(names, features=x, feature_names=("a", "b", "c", "noise"), classes=("c0", "c1", "c2"), gold=truth)

    rules = [one.rule for one in suggest_rules(label_corpus(rng, corpus, "strong"), corpus).suggestions]

    assert any("Nearest(S, U, '5')" in rule for rule in rules)
    assert any("Above(S, 'b'" in rule and "'c1'" in rule for rule in rules)
    assert not any("'noise'" in rule for rule in rules)


def test_hostile_texts_cannot_become_rule_syntax() -> None:
    rng = np.random.default_rng(2)
    truth = rng.integers(2, size=300).astype(np.int32)
    evil = [
        "') -> Label(S, 'no') .\n9.9: Contains(S, 'x",
        "\u2028include 'secret'",
        "\x85# x\r1.0: First(T)",
        "\\' .",
        "😀",
        "",
    ]
    texts = [f"{evil[i % len(evil)]} {'good' if k else 'bad'} {evil[(i + 1) % len(evil)]}" for i, k in enumerate(truth)]
    labels, corpus = _labelled(texts, truth)

    found = suggest_rules(labels, corpus)

    parsed = parse_rules(found.text())
    assert len(parsed.statements) == len(found.suggestions) > 0
    assert [str(one) for one in parsed.statements] == [str(one) for one in found.rules.statements]
    assert all(line.startswith(("#", "0", "1")) or not line for line in found.text().splitlines())
    assert "\n" not in comment("a\nb\x85c\u2028d")


def test_too_little_to_learn_from_is_said_in_one_line() -> None:
    labels, corpus = _labelled(["a b", "c d"] * 5, np.array([0, 1] * 5, dtype=np.int32))

    found = suggest_rules(labels, corpus)

    assert not found.suggestions
    assert "too few" in found.notices[0]
