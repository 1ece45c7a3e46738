"""Short reviews with planted sentiment, some of them contrasts: "A but B", in which B decides.

In a contrast the clause before "but" has the opposite sentiment of the review and the clause after it the review's
own, so a classifier that counts words is led astray while the rule of [LNCL] eq. 16 holds. Besides, sentiment is
blurred the way it is in real reviews: negation, concessions ("despite the dull plot"), words that can mean both, and
here and there a remark of the other sentiment. Axes: i unit (a review).

[LNCL] Chen et al., Learning from Noisy Crowd Labels with Logics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.simulate.options import check_count, check_share, class_balance, numbered_names
from crowdlogic.data.simulate.review_words import (
    ADJECTIVES,
    ADVERBS,
    AMBIGUOUS,
    ASPECTS,
    CONCESSIONS,
    FEELINGS,
    FILLERS,
    LINKS,
    OPENERS,
    SETTINGS,
    THINGS,
    VERDICTS,
)
from crowdlogic.numerics.arrays import Bools, read_only

SENTIMENTS = ("negative", "positive")

SKEW = 2.4
"""How much more often the first words of a list are drawn than the last; 1 would draw all alike."""
NEGATED = 0.03
"""How often a remark says it with "not" and a word of the other sentiment."""
VAGUE = 0.04
"""How often an adjective is one that can mean both."""
CONCEDED = 0.06
"""How often a plain review concedes something of the other sentiment."""
SECOND_REMARK = 0.8
"""How often a review, or clause B of a contrast, has two remarks."""
SETTING = 0.6
"""How often a sentence without any sentiment is added to a review."""
OPENER = 0.2
"""How often a review opens with a phrase such as "to be honest"."""


@dataclass(frozen=True, eq=False)
class SimulatedReviews:
    """Reviews and what was planted in them.

    Attributes:
        corpus: The texts, with the sentiment as gold.
        contrast: contrast[i], whether review i is an "A but B".
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
        items: How many reviews.
        contrast: The share of contrasts, met exactly (to the nearest whole review).
        positive: The probability that a review is positive.
        noise: How often a remark outside contrasts has the other sentiment after all.
        prefix: What the names of the items begin with.
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
    """A review of one mind: one or two remarks, perhaps a concession, perhaps where and when."""
    domain = pick(rng, tuple(ASPECTS), skew=1.0)
    meant = [opposite(sentiment) if rng.random() < noise else sentiment for _ in range(2)]
    said = compose_remark(rng, domain, meant[0])
    if rng.random() < SECOND_REMARK:
        said = f"{said} and {compose_remark(rng, domain, meant[1])}"
    if rng.random() < CONCEDED:
        aside = (
            f"{pick(rng, CONCESSIONS)} the {adjective(rng, domain, opposite(sentiment))} {pick(rng, THINGS[domain])}"
        )
        said = f"{aside} itself , {said}"
    return add_setting(rng, said, domain)


def compose_contrast(rng: np.random.Generator, sentiment: str) -> str:
    """A review in two minds: "A but B", A of the other sentiment, B of the review's own."""
    domain = pick(rng, tuple(ASPECTS), skew=1.0)
    before, after = compose_remark(rng, domain, opposite(sentiment)), compose_remark(rng, domain, sentiment)
    if rng.random() < SECOND_REMARK:
        after = f"{after} and {compose_remark(rng, domain, sentiment)}"
    return add_setting(rng, f"{before} , but {after}", domain)


def compose_remark(rng: np.random.Generator, domain: str, sentiment: str) -> str:
    """One clause that praises or blames something."""
    aspect = pick(rng, ASPECTS[domain])
    shape = rng.random()
    if shape < NEGATED:
        return f"{aspect} {pick(rng, LINKS)} not {adjective(rng, domain, opposite(sentiment))}"
    if shape < 0.25:
        return f"i {pick(rng, FEELINGS[sentiment])} {aspect}"
    if shape < 0.40:
        return f"{aspect} {pick(rng, VERDICTS[sentiment])}"
    if shape < 0.55:
        return f"this {pick(rng, THINGS[domain])} {pick(rng, LINKS)} {adjective(rng, domain, sentiment)}"
    how = f"{pick(rng, ADVERBS)} " if rng.random() < 0.4 else ""
    return f"{aspect} {pick(rng, LINKS)} {how}{adjective(rng, domain, sentiment)}"


def adjective(rng: np.random.Generator, domain: str, sentiment: str) -> str:
    """A word of that sentiment, now and then one that can mean both."""
    if rng.random() < VAGUE:
        return pick(rng, AMBIGUOUS)
    return pick(rng, ADJECTIVES[sentiment]["both" if rng.random() < 0.6 else domain])


def add_setting(rng: np.random.Generator, text: str, domain: str) -> str:
    """The review with its trimmings: an opener before it, a sentence without any sentiment before or after it."""
    if rng.random() < OPENER:
        text = f"{pick(rng, OPENERS)} {text}"
    if rng.random() < SETTING:
        fillers = {name: pick(rng, words, skew=1.0) for name, words in FILLERS.items()}
        setting = pick(rng, SETTINGS[domain], skew=1.0).format(**fillers)
        text = f"{setting} . {text}" if rng.random() < 0.5 else f"{text} . {setting}"
    return f"{text} ."


def opposite(sentiment: str) -> str:
    """Positive for negative, and the other way round."""
    return SENTIMENTS[1 - SENTIMENTS.index(sentiment)]


def pick(rng: np.random.Generator, words: tuple[str, ...], *, skew: float = SKEW) -> str:
    """One of the words, those at the front more often; a skew of 1 draws all alike."""
    return words[int(len(words) * rng.random() ** skew)]
