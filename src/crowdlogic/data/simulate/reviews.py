"""Simulated short reviews with planted sentiment; some are contrasts ("A but B"), in which clause B decides.

In a contrast, the clause before "but" has the opposite sentiment of the review and the clause after it has the
review's sentiment. A bag-of-words classifier is misled, while the rule of [LNCL] eq. 16 holds. As in real reviews,
sentiment is also blurred by negation, concessions ("despite the dull plot"), ambiguous words and occasional remarks of
the other sentiment. Axes: i unit (a review).

[LNCL] Chen et al., Learning from Noisy Crowd Labels with Logics.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.simulate.crowds import check_count, check_share, class_balance, numbered_names
from crowdlogic.numerics.arrays import Bools, read_only

WORDS: dict[str, Any] = tomllib.loads(Path(__file__).with_name("reviews.toml").read_text(encoding="utf-8"))
"""Lists of words and phrases. The word "but" is in none, so it occurs in a review if and only if that is a contrast."""

SENTIMENTS = ("negative", "positive")

SKEW = 2.4
"""Exponent of the preference for words early in a list; 1 draws all words equally often."""
NEGATED = 0.03
"""Probability that a remark negates a word of the other sentiment ("not bad")."""
VAGUE = 0.04
"""Probability that an adjective is ambiguous."""
CONCEDED = 0.06
"""Probability that a review without contrast begins with a concession of the other sentiment."""
SECOND_REMARK = 0.8
"""Probability that a review, or clause B of a contrast, has two remarks."""
SETTING = 0.6
"""Probability that a sentence without sentiment is added to a review."""
WHOLE = 0.15
"""Probability that a remark is about the whole film or product."""
OPENER = 0.2
"""Probability that a review starts with a phrase such as "to be honest"."""


@dataclass(frozen=True, eq=False)
class SimulatedReviews:
    """Simulated reviews with their planted properties.

    Attributes:
        corpus: The texts, with the sentiment as gold.
        contrast: contrast[i] is true if review i is a contrast ("A but B").
    """

    corpus: Corpus
    contrast: Bools


def simulate_reviews(
    rng: np.random.Generator,
    *,
    items: int = 1000,
    contrast: float = 0.3,
    positive: float = 0.5,
    noise: float = 0.02,
    prefix: str = "r",
) -> SimulatedReviews:
    """Compose reviews of films and of products.

    Args:
        rng: Random number generator.
        items: Number of reviews.
        contrast: Share of contrasts, exact up to rounding.
        positive: Probability that a review is positive.
        noise: Probability that a remark outside contrasts has the other sentiment.
        prefix: Prefix of the item names.
    """
    check_count("items", items)
    for name, share in (("contrast", contrast), ("positive", positive), ("noise", noise)):
        check_share(name, share)
    gold = rng.choice(2, size=items, p=class_balance([1 - positive, positive], 2)).astype(np.int32)
    is_contrast = rng.permutation(np.arange(items) < round(contrast * items))
    texts = tuple(
        compose_contrast(rng, SENTIMENTS[k]) if mixed else compose_plain(rng, SENTIMENTS[k], noise=noise)
        for k, mixed in zip(gold, is_contrast, strict=True)
    )
    corpus = Corpus(pl.Series(numbered_names(prefix, items)), texts=texts, classes=SENTIMENTS, gold=gold)
    return SimulatedReviews(corpus, read_only(is_contrast))


def compose_plain(rng: np.random.Generator, sentiment: str, *, noise: float) -> str:
    """Compose a review with one opinion: one or two remarks, perhaps with a concession or a setting."""
    domain, subjects = draw_subjects(rng)
    meant = [opposite(sentiment) if rng.random() < noise else sentiment for _ in range(2)]
    said = compose_remark(rng, domain, subjects[0], meant[0])
    if rng.random() < SECOND_REMARK:
        said = f"{said} and {compose_remark(rng, domain, subjects[1], meant[1])}"
    if rng.random() < CONCEDED:
        conceded = f"the {adjective(rng, domain, opposite(sentiment))} {subjects[2].split(' ', maxsplit=1)[1]}"
        said = f"{pick(rng, WORDS['concessions'])} {conceded}, {said}"
    return add_setting(rng, said, domain)


def compose_contrast(rng: np.random.Generator, sentiment: str) -> str:
    """Compose a review "A but B", in which A has the other sentiment and B the review's own."""
    domain, subjects = draw_subjects(rng)
    before = compose_remark(rng, domain, subjects[0], opposite(sentiment))
    after = compose_remark(rng, domain, subjects[1], sentiment)
    if rng.random() < SECOND_REMARK:
        after = f"{after} and {compose_remark(rng, domain, subjects[2], sentiment)}"
    return add_setting(rng, f"{before}, but {after}", domain)


def draw_subjects(rng: np.random.Generator) -> tuple[str, list[str]]:
    """Draw a domain and three different subjects for remarks, such as "the plot" or "this film"."""
    domain = pick(rng, tuple(WORDS["aspects"]), skew=1.0)
    whole = f"this {pick(rng, WORDS['things'][domain])}"
    subjects: list[str] = []
    while len(subjects) < 3:
        subject = whole if rng.random() < WHOLE else pick(rng, WORDS["aspects"][domain])
        if subject not in subjects:
            subjects.append(subject)
    return domain, subjects


def compose_remark(rng: np.random.Generator, domain: str, subject: str, sentiment: str) -> str:
    """Compose one clause that praises or criticises the subject."""
    shape = rng.random()
    if shape < NEGATED:
        return f"{subject} {pick(rng, WORDS['links'])} not {adjective(rng, domain, opposite(sentiment))}"
    if shape < 0.25:
        return f"I {pick(rng, WORDS['feelings'][sentiment])} {subject}"
    if shape < 0.40:
        return f"{subject} {pick(rng, WORDS['verdicts'][sentiment][domain])}"
    how = f"{pick(rng, WORDS['adverbs'])} " if rng.random() < 0.3 else ""
    return f"{subject} {pick(rng, WORDS['links'])} {how}{adjective(rng, domain, sentiment)}"


def adjective(rng: np.random.Generator, domain: str, sentiment: str) -> str:
    """Draw an adjective of the given sentiment, or occasionally an ambiguous one."""
    if rng.random() < VAGUE:
        return pick(rng, WORDS["ambiguous"])
    return pick(rng, WORDS["adjectives"][sentiment]["both" if rng.random() < 0.6 else domain])


def add_setting(rng: np.random.Generator, text: str, domain: str) -> str:
    """Add an opening phrase and a sentence without sentiment, each with some probability; punctuate the result."""
    sentences = [f"{pick(rng, WORDS['openers'])} {text}" if rng.random() < OPENER else text]
    if rng.random() < SETTING:
        fillers = {name: pick(rng, words, skew=1.0) for name, words in WORDS["fillers"].items()}
        setting = pick(rng, WORDS["settings"][domain], skew=1.0).format(**fillers)
        sentences.insert(int(rng.random() >= 0.5), setting)
    return " ".join(f"{one[0].upper()}{one[1:]}." for one in sentences)


def opposite(sentiment: str) -> str:
    """Return the other sentiment."""
    return SENTIMENTS[1 - SENTIMENTS.index(sentiment)]


def pick(rng: np.random.Generator, words: Sequence[str], *, skew: float = SKEW) -> str:
    """Draw one of the words; with a skew above 1, words early in the list are more likely."""
    return words[int(len(words) * rng.random() ** skew)]
