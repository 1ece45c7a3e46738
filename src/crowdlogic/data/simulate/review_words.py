"""The words of simulated reviews. Earlier words of a list are drawn more often than later ones.

All of it is our own; none comes from a review that anybody wrote. No list holds the word "but": a review has it if
and only if it is a contrast.
"""

from __future__ import annotations

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
