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
from crowdlogic.data.simulate.crowds import check_count, check_share, class_balance, numbered_names
from crowdlogic.numerics.arrays import Bools, read_only

# The words of simulated reviews. Earlier words of a list are drawn more often than later ones.
#
# All of it is our own; none comes from a review that anybody wrote. No list holds the word "but": a review has it if
# and only if it is a contrast.

ASPECTS: dict[str, tuple[str, ...]] = {
    "film": (
        "the acting", "the plot", "the story", "the script", "the ending", "the dialogue", "the cast", "the music",
        "the camera work", "the pacing", "the humour", "the lead actor", "the second half", "the opening scene",
        "the soundtrack", "the romance", "the villain", "the editing", "the chase", "the lead actress", "the staging",
        "the premise", "the costume design", "the narration", "the final twist", "the choreography", "the setting",
    ),
    "product": (
        "the battery", "the screen", "the sound", "the keyboard", "the case", "the price", "the manual", "the handle",
        "the camera", "the charger", "the motor", "the design", "the app", "the remote", "the packaging", "the cable",
        "the customer service", "the delivery", "the zipper", "the fabric", "the lid", "the speaker", "the filter",
        "the setup", "the menu", "the hinge", "the warranty",
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
            "sturdy", "reliable", "handy", "comfortable", "crisp", "durable", "intuitive", "well made", "responsive",
            "practical", "generous", "compact", "snug", "efficient", "effortless", "dependable", "rugged",
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
            "flimsy", "unreliable", "useless", "cheap", "fragile", "uncomfortable", "faulty", "blurry", "awkward",
            "sluggish", "noisy", "scratchy", "overpriced", "defective", "leaky", "confusing", "brittle",
        ),
    },
}  # fmt: skip

AMBIGUOUS = (
    "strange", "long", "dark", "simple", "quiet", "unusual", "heavy", "loud", "slow", "intense", "wild",
    "old-fashioned", "plain", "bold", "surprising", "serious", "unpredictable", "soft",
)  # fmt: skip
"""Words that praise as readily as they blame."""

VERDICTS: dict[str, tuple[str, ...]] = {
    "positive": (
        "won me over", "made my day", "exceeded every hope", "kept me happy throughout", "deserves applause",
        "is worth every penny", "never let me down", "made me smile", "hit the mark", "works like a dream",
        "left me delighted", "earned my respect",
    ),
    "negative": (
        "let me down", "wore me out", "left me cold", "ruined my evening", "fell apart quickly", "missed the mark",
        "is a waste of money", "made me cringe", "tested my patience", "lost me early on", "drove me mad",
        "failed on every count",
    ),
}  # fmt: skip

FEELINGS: dict[str, tuple[str, ...]] = {
    "positive": ("loved", "enjoyed", "liked", "adored", "admired", "appreciated", "cherished"),
    "negative": ("hated", "disliked", "regretted", "loathed", "could hardly bear", "despised", "resented"),
}

LINKS = ("is", "was", "feels", "seems", "looks", "felt", "seemed", "turned out")
ADVERBS = (
    "really", "very", "rather", "quite", "truly", "so", "fairly", "simply", "utterly", "pretty", "frankly", "decidedly",
)  # fmt: skip
CONCESSIONS = ("despite", "for all", "notwithstanding", "in spite of")
OPENERS = (
    "well ,",
    "to be honest ,",
    "overall ,",
    "in short ,",
    "all in all ,",
    "for me ,",
    "so far ,",
    "in the end ,",
)

SETTINGS: dict[str, tuple[str, ...]] = {
    "film": (
        "we watched it {day} with {people}", "i saw it in {place} {day}", "it runs for about {number} minutes",
        "{people} picked it for our {occasion}", "it is part {number} of the series",
        "the story is set in {place}", "my seat was next to {people}", "there were {number} of us in the room",
    ),
    "product": (
        "i bought it {day} for {people}", "it arrived {day} in {place}", "{people} wanted one for the {occasion}",
        "we keep it in {place}", "i have used it for {number} weeks", "it comes in {number} colours",
        "it replaced the one from {place}", "i ordered {number} of them for our {occasion}",
    ),
}  # fmt: skip
"""Sentences that say nothing about how good anything is."""

FILLERS: dict[str, tuple[str, ...]] = {
    "day": (
        "last monday",
        "on sunday",
        "yesterday",
        "in june",
        "last winter",
        "on a rainy day",
        "in the spring",
        "at noon",
    ),
    "people": (
        "my brother",
        "my parents",
        "a friend",
        "the neighbours",
        "my aunt",
        "our guests",
        "a colleague",
        "the kids",
    ),
    "place": (
        "the kitchen",
        "a small town",
        "the office",
        "paris",
        "the garage",
        "the city",
        "the old house",
        "the village",
    ),
    "occasion": (
        "anniversary",
        "club night",
        "birthday",
        "weekend",
        "holiday",
        "office party",
        "camping trip",
        "reunion",
    ),
    "number": ("two", "three", "six", "ten", "twelve", "ninety", "forty", "eight"),
}


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
