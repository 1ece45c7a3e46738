"""The audit: planted good and bad rules get their verdicts, and every figure is what it says."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.optimize import brentq
from scipy.special import rel_entr
from statsmodels.stats.proportion import proportion_confint

from crowdlogic.data.corpus import documents, sentences
from crowdlogic.errors import OptionError
from crowdlogic.rules.audit import RuleExpectation, Verdict, audit, interval, kl, verdict
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.rules.projection.projector import Projector

CLASSES = ("ham", "spam")


def world(seed: int = 0, n: int = 400):
    """Items whose words tell their class: 'prize' means spam 9 times in 10, 'hello' means nothing, 'bill' means ham."""
    rng = np.random.default_rng(seed)
    gold = rng.integers(2, size=n)
    texts = []
    for k in gold:
        words = ["hello"] if rng.random() < 0.5 else []
        words += ["prize"] if rng.random() < (0.9 if k else 0.1) else []
        words += ["bill"] if rng.random() < (0.1 if k else 0.9) else []
        texts.append(" ".join([*words, "now"]))
    right = rng.random(n) < 0.8
    sure = rng.uniform(0.55, 0.9, size=n)
    answer = np.where(right, gold, 1 - gold)
    beliefs = np.where(np.arange(2) == answer[:, None], sure[:, None], 1 - sure[:, None])
    return documents([f"d{i}" for i in range(n)], texts), beliefs, gold


RULES = """
1: Contains(S, 'prize') -> Label(S, 'spam')
1: Contains(S, 'bill') -> Label(S, 'spam')
1: Contains(S, 'zebra') -> Label(S, 'spam')
0: Contains(S, 'prize') -> Label(S, 'spam')
"""


def test_good_bad_and_idle_rules_get_their_verdicts() -> None:
    corpus, beliefs, gold = world()
    ground = ground_rules(parse_rules(RULES), corpus, CLASSES)

    without = audit(Projector(strength=1.0), beliefs, ground)
    with_gold = audit(Projector(strength=1.0), beliefs, ground, gold=gold)

    expected = [Verdict.helps, Verdict.contradicts, Verdict.neutral, Verdict.neutral]
    assert [audited.verdict for audited in without] == expected
    assert [audited.verdict for audited in with_gold] == expected


def test_the_figures_are_what_they_say() -> None:
    corpus, beliefs, gold = world(1)
    ground = ground_rules(parse_rules(RULES, source="r"), corpus, CLASSES)
    assert corpus.texts is not None
    prize = np.array(["prize" in text for text in corpus.texts])

    audited = audit(Projector(strength=1.0), beliefs, ground, gold=gold)[0]

    q_b = Projector(strength=1.0).project(beliefs, ground.only([0])).q_b
    before, after = beliefs.argmax(axis=1), q_b.argmax(axis=1)
    assert audited.rule == "1.0: Contains(S, 'prize') -> Label(S, 'spam')"
    assert audited.place == "r:2:1"
    assert audited.groundings == audited.units == prize.sum()
    assert audited.coverage == pytest.approx(prize.mean())
    assert audited.applications == pytest.approx(prize.sum())
    assert audited.satisfaction == pytest.approx(beliefs[prize, 1].mean())
    assert audited.chance == pytest.approx(beliefs[:, 1].mean())
    assert audited.moved == pytest.approx(rel_entr(q_b, beliefs).sum())
    assert audited.flipped == (before != after).sum()
    assert audited.flipped_right == ((before != after) & (after == gold)).sum()
    assert audited.flipped_wrong == ((before != after) & (before == gold)).sum()
    assert audited.low < audited.satisfaction < audited.high


def test_gold_that_is_unknown_judges_no_flip() -> None:
    corpus, beliefs, _ = world(1)
    ground = ground_rules(parse_rules(RULES), corpus, CLASSES)

    audited = audit(Projector(strength=1.0), beliefs, ground, gold=np.full(400, -1))[0]

    assert audited.flipped > 0
    assert (audited.flipped_right, audited.flipped_wrong) == (0, 0)


def test_the_interval_covers_the_truth_about_95_times_in_100() -> None:
    covered = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        # 60 items of 1 to 5 rows; rows of one item agree, so that rows are not independent.
        item = np.repeat(np.arange(60), rng.integers(1, 6, size=60))
        violated = (rng.random(60) < 0.3)[item].astype(float)
        low, high = interval(RuleExpectation(item, violated, np.ones(len(item))), item)
        covered += low < 0.7 < high

    assert 0.90 <= covered / 300 <= 0.99


def test_a_rule_that_always_holds_still_has_an_interval() -> None:
    low, high = interval(RuleExpectation(np.arange(10), np.zeros(10), np.ones(10)), np.arange(10))

    assert 0.6 < low < 0.8
    assert high == pytest.approx(1.0)


def test_a_rule_that_never_applies_has_no_satisfaction() -> None:
    corpus, beliefs, _ = world()

    audited = audit(Projector(), beliefs, ground_rules(parse_rules(RULES), corpus, CLASSES))[2]

    assert audited.groundings == 0
    assert np.isnan(audited.satisfaction)
    assert np.isnan(audited.low)
    assert audited.moved == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("satisfaction", "low", "high", "chance", "changes", "right", "wrong", "expected"),
    [
        (0.9, 0.8, 0.95, 0.5, True, None, None, Verdict.helps),
        (0.9, 0.8, 0.95, 0.5, False, None, None, Verdict.neutral),
        (0.55, 0.45, 0.65, 0.5, True, None, None, Verdict.neutral),
        (0.3, 0.2, 0.4, 0.5, True, None, None, Verdict.contradicts),
        (0.4, 0.3, 0.45, 0.03, True, None, None, Verdict.neutral),
        (0.04, 0.03, 0.05, 0.02, True, None, None, Verdict.contradicts),
        (0.9, 0.8, 0.95, 0.5, True, 2, 20, Verdict.contradicts),
        (0.3, 0.2, 0.4, 0.5, True, 20, 2, Verdict.helps),
        (0.9, 0.8, 0.95, 0.5, True, 3, 4, Verdict.helps),
    ],
)
def test_the_verdict_follows_gold_then_the_crowd(
    satisfaction: float,
    low: float,
    high: float,
    chance: float,
    changes: bool,
    right: int | None,
    wrong: int | None,
    expected: Verdict,
) -> None:
    found = verdict(satisfaction, low=low, high=high, chance=chance, changes=changes, right=right, wrong=wrong)

    assert found is expected


def test_kl_is_zero_at_home_and_counts_forbidden_classes_as_nothing() -> None:
    q_a = np.array([[0.25, 0.75], [0.5, 0.5]])
    q_b = np.array([[0.25, 0.75], [0.0, 1.0]])

    np.testing.assert_allclose(kl(q_b, q_a), [0.0, np.log(2)], rtol=0, atol=1e-12)


def test_rules_over_derived_texts_and_sequences_are_audited() -> None:
    texts = documents(["a", "b"], ["good but bad", "fine"])
    contrast = ground_rules(parse_rules("include contrast('but')"), texts, ("neg", "pos"))
    tokens = ground_rules(parse_rules("include bio('X')"), sentences(["s"], [["a", "b"]]), ("B-X", "I-X", "O"))

    (audited,) = audit(
        Projector(), np.array([[0.4, 0.6], [0.5, 0.5]]), contrast, predict=lambda t: np.array([[0.9, 0.1]])
    )
    chained = audit(Projector(), np.array([[0.1, 0.1, 0.8], [0.1, 0.8, 0.1]]), tokens)

    assert audited.satisfaction == pytest.approx(0.4 * 0.9 + 0.6 * 0.1)
    assert audited.flipped == 1
    assert chained[0].satisfaction == pytest.approx(0.2)


def test_gold_of_another_length_is_refused() -> None:
    corpus, beliefs, _ = world(n=10)

    with pytest.raises(OptionError, match="gold has 3 entries for 10 units"):
        audit(Projector(), beliefs, ground_rules(parse_rules(RULES), corpus, CLASSES), gold=np.zeros(3, dtype=int))


def test_a_rule_over_pairs_counts_both_units() -> None:
    frame = pl.DataFrame({"a": ["u0"], "b": ["u2"]})
    ground = ground_rules(
        parse_rules("1: Similar(A, B) & Label(A, C) -> Label(B, C)"),
        documents(["u0", "u1", "u2"], ["t"] * 3),
        CLASSES,
        vocabulary=Vocabulary().table("Similar", frame),
    )

    (audited,) = audit(Projector(), np.full((3, 2), 0.5), ground)

    assert audited.units == 2
    assert audited.coverage == pytest.approx(2 / 3)
    assert audited.groundings == 2


@pytest.mark.parametrize("per_unit", ["sum", "mean"])
def test_flips_are_those_of_the_rule_alone_under_the_same_options(per_unit: str) -> None:
    # Twelve neighbours that are surely spam pull at every hesitant item: summed they flip it, averaged they do not.
    hesitant, sure = [f"h{n}" for n in range(6)], [f"s{n}" for n in range(12)]
    pairs = pl.DataFrame({"a": sure * 6, "b": [name for name in hesitant for _ in sure]})
    projector = Projector(
        rules=parse_rules("0.1: Similar(A, B) & Label(A, C) -> Label(B, C)"),
        vocabulary=Vocabulary().table("Similar", pairs),
        strength=5.0,
        per_unit=per_unit,
    )
    ground = projector.ground(documents(hesitant + sure, ["t"] * 18), CLASSES)
    q_a = np.array([[0.8, 0.2]] * 6 + [[0.01, 0.99]] * 12)

    (audited,) = audit(projector, q_a, ground)

    q_b = projector.project(q_a, ground).q_b
    assert audited.flipped == (q_b.argmax(axis=1) != q_a.argmax(axis=1)).sum()
    assert audited.flipped == (6 if per_unit == "sum" else 0)
    assert audited.moved == pytest.approx(rel_entr(q_b, q_a).sum())


def test_the_audit_projects_from_the_crowd_whatever_the_preset() -> None:
    projector = Projector(rules=parse_rules("0.5: !Label(S, 'spam')"), preset="transitions", strength=1.0)
    ground = projector.ground(documents(["u"], ["t"]), CLASSES)
    q_a, classifier = np.array([[0.45, 0.55]]), np.array([[0.1, 0.9]])

    (audited,) = audit(projector, q_a, ground, classifier=classifier)

    q_b = Projector(strength=1.0).project(q_a, ground).q_b
    assert audited.flipped == 1
    assert audited.moved == pytest.approx(rel_entr(q_b, q_a).sum())


NEAR = 1e-9
"""A step to either side of a threshold."""


@pytest.mark.parametrize(
    ("high", "expected"), [(0.5 - NEAR, Verdict.contradicts), (0.5, Verdict.neutral), (0.5 + NEAR, Verdict.neutral)]
)
def test_a_rule_is_contradicted_where_its_whole_interval_lies_below_a_half(high: float, expected: Verdict) -> None:
    assert verdict(0.4, low=0.3, high=high, chance=0.5, changes=True) is expected


@pytest.mark.parametrize(
    ("low", "expected"), [(0.5 - NEAR, Verdict.neutral), (0.5, Verdict.neutral), (0.5 + NEAR, Verdict.helps)]
)
def test_a_rule_helps_where_its_whole_interval_lies_above_a_half(low: float, expected: Verdict) -> None:
    assert verdict(0.6, low=low, high=0.7, chance=0.5, changes=True) is expected


@pytest.mark.parametrize(
    ("satisfaction", "expected"), [(1 / 3 - NEAR, Verdict.contradicts), (1 / 3 + NEAR, Verdict.neutral)]
)
def test_ten_times_the_odds_of_chance_support_a_rule(satisfaction: float, expected: Verdict) -> None:
    # By chance the rule holds at odds of 1 : 20; ten times these are 1 : 2, a satisfaction of one third.
    assert verdict(satisfaction, low=0.3, high=0.4, chance=1 / 21, changes=True) is expected


@pytest.mark.parametrize(
    ("right", "wrong", "expected"),
    [(42, 25, Verdict.helps), (22, 10, Verdict.contradicts)],
)
def test_gold_decides_at_a_level_of_five_in_a_hundred(right: int, wrong: int, expected: Verdict) -> None:
    """The two-sided sign test, p = 0.0498 and 0.0501; where gold does not decide, the crowd contradicts."""
    assert verdict(0.3, low=0.2, high=0.4, chance=0.5, changes=True, right=right, wrong=wrong) is expected


@pytest.mark.parametrize(("nats", "expected"), [(0.999e-3, Verdict.neutral), (1.001e-3, Verdict.helps)])
def test_a_rule_that_flips_nothing_matters_from_a_thousandth_of_a_nat_per_unit(nats: float, expected: Verdict) -> None:
    corpus, q_a = documents([f"d{i}" for i in range(60)], ["a"] * 60), np.tile([[0.8, 0.2]], (60, 1))
    rules = parse_rules("1: Contains(S, 'a') -> Label(S, 'ham')")

    def moved(strength: float) -> float:
        projector = Projector(rules=rules, strength=strength)
        return float(kl(projector.project(q_a, projector.ground(corpus, CLASSES)).q_b, q_a).mean())

    projector = Projector(rules=rules, strength=float(brentq(lambda c: moved(c) - nats, 0.0, 5.0)))
    (audited,) = audit(projector, q_a, projector.ground(corpus, CLASSES))

    assert audited.flipped == 0
    assert audited.low > 0.5
    assert audited.verdict is expected


def test_the_interval_is_wilsons_at_95_percent() -> None:
    low, high = interval(RuleExpectation(np.arange(40), np.repeat([1.0, 0.0], [10, 30]), np.ones(40)), np.arange(40))

    expected = proportion_confint(30, 40, alpha=0.05, method="wilson")
    np.testing.assert_allclose([low, high], expected, rtol=0, atol=1e-6)
