"""Simulated short reviews with planted sentiment; some are contrasts ("A but B"), in which clause B decides.

In a contrast, the clause before "but" has the opposite sentiment of the review and the clause after it has the
review's sentiment. A bag-of-words classifier is misled, while the rule of [LNCL] eq. 16 holds. As in real reviews,
sentiment is also blurred by negation, concessions ("despite the dull plot"), ambiguous words and occasional remarks of
the other sentiment. Axes: i unit (a review).

[LNCL] Chen et al., Learning from Noisy Crowd Labels with Logics.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.simulate.crowds import check_count, check_share, class_balance, numbered_names
from crowdlogic.numerics.arrays import Bools, read_only

# The vocabulary of simulated reviews, written for this purpose. Words early in a list are drawn more often than later
# ones. The word "but" is in no list, so that it occurs in a review if and only if the review is a contrast.

ASPECTS: dict[str, tuple[str, ...]] = {
    "film": (
        "the acting", "the plot", "the story", "the script", "the ending", "the dialogue", "the cast", "the music",
        "the camera work", "the pacing", "the humour", "the lead actor", "the second half", "the opening scene",
        "the soundtrack", "the romance", "the villain", "the editing", "the chase", "the lead actress", "the staging",
        "the premise", "the costume design", "the narration", "the final twist", "the choreography", "the lighting",
    ),
    "product": (
        "the battery", "the screen", "the sound", "the keyboard", "the case", "the switch", "the manual", "the handle",
        "the camera", "the charger", "the motor", "the design", "the app", "the remote", "the packaging", "the cable",
        "the surface", "the stand", "the zipper", "the fabric", "the lid", "the speaker", "the filter",
        "the software", "the menu", "the hinge", "the strap",
    ),
}  # fmt: skip

THINGS: dict[str, tuple[str, ...]] = {
    "film": ("film", "movie", "comedy", "thriller", "drama", "sequel", "picture", "western", "documentary", "debut"),
    "product": ("gadget", "device", "product", "machine", "tool", "purchase", "kettle", "phone", "backpack", "lamp"),
}

ADJECTIVES: dict[str, dict[str, tuple[str, ...]]] = {
    "positive": {
        "both": (
            "good", "great", "excellent", "wonderful", "impressive", "lovely", "superb", "pleasant", "brilliant",
            "charming", "fantastic", "remarkable", "delightful", "elegant", "splendid", "first-rate", "outstanding",
            "terrific", "marvellous", "flawless", "graceful", "stunning", "admirable", "inspired", "top-notch",
        ),
        "film": (
            "funny", "gripping", "moving", "clever", "witty", "touching", "believable", "heartfelt", "captivating",
            "hilarious", "riveting", "absorbing", "tender", "poetic", "suspenseful", "nuanced", "masterful",
        ),
        "product": (
            "sturdy", "reliable", "handy", "practical", "durable", "solid", "convenient", "well made", "dependable",
            "thoughtful", "robust", "useful", "modern", "clever", "well designed", "neat", "rugged",
        ),
    },
    "negative": {
        "both": (
            "bad", "poor", "terrible", "disappointing", "awful", "weak", "mediocre", "annoying", "dreadful", "ugly",
            "shoddy", "horrible", "tiresome", "lousy", "dismal", "clumsy", "appalling", "pathetic", "second-rate",
            "miserable", "abysmal", "wretched", "irritating", "frustrating", "hopeless",
        ),
        "film": (
            "boring", "dull", "predictable", "silly", "wooden", "tedious", "lifeless", "pretentious", "muddled",
            "stale", "contrived", "bland", "incoherent", "shallow", "laboured", "mawkish", "soulless",
        ),
        "product": (
            "flimsy", "unreliable", "useless", "cheap", "fragile", "impractical", "faulty", "outdated", "awkward",
            "defective", "overpriced", "badly made", "inconvenient", "crude", "substandard", "confusing", "brittle",
        ),
    },
}  # fmt: skip

AMBIGUOUS = (
    "strange", "dark", "simple", "unusual", "quiet", "bold", "different", "serious", "old-fashioned", "plain",
    "surprising", "unexpected", "modest", "intense", "peculiar",
)  # fmt: skip
"""Adjectives that can be praise or criticism."""

VERDICTS: dict[str, dict[str, tuple[str, ...]]] = {
    "positive": {
        "film": ("won me over", "made my day", "exceeded my hopes", "held my attention", "deserves applause",
                 "made me smile", "hit the mark", "left me delighted", "earned my respect"),
        "product": ("won me over", "made my day", "exceeded my hopes", "is worth every penny", "never let me down",
                    "makes life easier", "works like a dream", "left me delighted", "earned my respect"),
    },
    "negative": {
        "film": ("let me down", "wore me out", "left me cold", "ruined my evening", "missed the mark",
                 "made me cringe", "tested my patience", "lost me early on", "drove me mad"),
        "product": ("let me down", "wore me out", "left me cold", "ruined my week", "failed after a month",
                    "is a waste of money", "tested my patience", "drove me mad", "was not worth the money"),
    },
}  # fmt: skip

FEELINGS: dict[str, tuple[str, ...]] = {
    "positive": ("loved", "enjoyed", "liked", "adored", "admired", "appreciated", "was happy with"),
    "negative": ("hated", "disliked", "regretted", "loathed", "could hardly bear", "despised", "was unhappy with"),
}

LINKS = ("is", "was", "is", "was", "feels", "seems", "felt", "seemed")
ADVERBS = ("really", "truly", "simply", "just", "quite", "frankly", "clearly", "honestly")
CONCESSIONS = ("despite", "in spite of", "even with")
OPENERS = ("well,", "to be honest,", "overall,", "in short,", "all in all,", "for me,", "so far,", "in the end,")

SETTINGS: dict[str, tuple[str, ...]] = {
    "film": (
        "we watched it {day} with {people}", "I saw it {day} in {town}", "it runs for about {minutes} minutes",
        "{people} picked it for our {occasion}", "it is part {number} of the series",
        "the story is set in {town}", "I sat next to {people}", "there were {number} of us in the room",
    ),
    "product": (
        "I bought it {day} for {people}", "it arrived {day}", "{people} wanted one for the {occasion}",
        "we keep it in {room}", "I have used it for {number} weeks", "it comes in {number} colours",
        "it replaced the one in {room}", "I ordered {number} of them for our {occasion}",
    ),
}  # fmt: skip
"""Sentences that say nothing about how good anything is."""

FILLERS: dict[str, tuple[str, ...]] = {
    "day": ("last Monday", "on Sunday", "yesterday", "in June", "last winter", "in spring", "on a rainy day"),
    "people": (
        "my brother", "my parents", "a friend", "the neighbours", "my aunt", "our guests", "a colleague", "the kids",
    ),
    "town": ("a small town", "Paris", "the city", "Dublin", "the suburbs", "Lisbon", "a seaside town", "Vienna"),
    "room": ("the kitchen", "the office", "the garage", "the hall", "the attic", "the car", "the shed"),
    "occasion": (
        "anniversary", "club night", "birthday", "weekend", "holiday", "office party", "camping trip", "reunion",
    ),
    "number": ("two", "three", "four", "six", "seven", "eight", "ten", "twelve"),
    "minutes": ("eighty", "ninety", "a hundred", "a hundred and twenty"),
}  # fmt: skip


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
        said = f"{pick(rng, CONCESSIONS)} {conceded}, {said}"
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
    domain = pick(rng, tuple(ASPECTS), skew=1.0)
    whole = f"this {pick(rng, THINGS[domain])}"
    subjects: list[str] = []
    while len(subjects) < 3:
        subject = whole if rng.random() < WHOLE else pick(rng, ASPECTS[domain])
        if subject not in subjects:
            subjects.append(subject)
    return domain, subjects


def compose_remark(rng: np.random.Generator, domain: str, subject: str, sentiment: str) -> str:
    """Compose one clause that praises or criticises the subject."""
    shape = rng.random()
    if shape < NEGATED:
        return f"{subject} {pick(rng, LINKS)} not {adjective(rng, domain, opposite(sentiment))}"
    if shape < 0.25:
        return f"I {pick(rng, FEELINGS[sentiment])} {subject}"
    if shape < 0.40:
        return f"{subject} {pick(rng, VERDICTS[sentiment][domain])}"
    how = f"{pick(rng, ADVERBS)} " if rng.random() < 0.3 else ""
    return f"{subject} {pick(rng, LINKS)} {how}{adjective(rng, domain, sentiment)}"


def adjective(rng: np.random.Generator, domain: str, sentiment: str) -> str:
    """Draw an adjective of the given sentiment, or occasionally an ambiguous one."""
    if rng.random() < VAGUE:
        return pick(rng, AMBIGUOUS)
    return pick(rng, ADJECTIVES[sentiment]["both" if rng.random() < 0.6 else domain])


def add_setting(rng: np.random.Generator, text: str, domain: str) -> str:
    """Add an opening phrase and a sentence without sentiment, each with some probability; punctuate the result."""
    sentences = [f"{pick(rng, OPENERS)} {text}" if rng.random() < OPENER else text]
    if rng.random() < SETTING:
        fillers = {name: pick(rng, words, skew=1.0) for name, words in FILLERS.items()}
        setting = pick(rng, SETTINGS[domain], skew=1.0).format(**fillers)
        sentences.insert(int(rng.random() >= 0.5), setting)
    return " ".join(f"{one[0].upper()}{one[1:]}." for one in sentences)


def opposite(sentiment: str) -> str:
    """Return the other sentiment."""
    return SENTIMENTS[1 - SENTIMENTS.index(sentiment)]


def pick(rng: np.random.Generator, words: tuple[str, ...], *, skew: float = SKEW) -> str:
    """Draw one of the words; with a skew above 1, words early in the list are more likely."""
    return words[int(len(words) * rng.random() ** skew)]
