"""The words of simulated news sentences: invented names, and patterns with a slot for each entity.

In a pattern a slot in capitals is an entity (SLOTS says of which type), one in small letters is filled from FILLERS,
and all else stands for itself. Every entity has a plain word on its right, or two on its left (or one, when that
begins the sentence), so that its boundary can always be missed. Names in SHARED serve several types: only the words
around tell which is meant.
"""

from __future__ import annotations

TYPES = ("LOC", "MISC", "ORG", "PER")
SLOTS = {"PERSON": "PER", "PLACE": "LOC", "CLUB": "ORG", "FIRM": "ORG", "PEOPLE": "MISC", "EVENT": "MISC"}

FIRST_NAMES = (
    "Anna", "Boris", "Clara", "Dario", "Elena", "Felix", "Greta", "Hugo", "Irene", "Jonas", "Karla", "Luca", "Marta",
    "Nils", "Olga", "Paulo", "Rosa", "Stefan", "Tessa", "Viktor", "Wanda", "Yusuf", "Zoe", "Emil", "Farah", "Ivo",
)  # fmt: skip
LAST_NAMES = (
    "Aldermoor", "Brackwell", "Corvina", "Dallenby", "Estermann", "Farrowick", "Gundersby", "Hollenz", "Ibarret",
    "Jankovel", "Kestrand", "Lindovic", "Morvane", "Nakarelli", "Ostrander", "Pellworth", "Quistad", "Rovenska",
    "Sandermann", "Tolvanger", "Umbridale", "Vasterling", "Wexholm", "Yarrowby", "Zelinka", "Marlow", "Carrick",
)  # fmt: skip
PLACES = (
    "Varnholt", "Caldry", "Port Ellery", "Ostrava Bay", "Lindmark", "New Talmere", "Kestovia", "Brenland", "Sarovia",
    "Mount Haldis", "Tarnby", "East Corvale", "Wendmoor", "San Belario", "Dunmarch", "Orlanda", "Lower Fenwick",
    "Talmere", "Haldis", "Carrick", "Marlow",
)  # fmt: skip
SHARED = ("Varnholt", "Caldry", "Marlow", "Carrick", "Haldis", "Talmere", "Lindmark", "Tarnby")
"""Places that are also clubs and firms, two of them also family names."""
CLUB_TAILS = ("United", "Rovers", "Wanderers", "City", "Athletic")
FIRM_HEADS = (
    "Brackwell", "Ostrander", "Solvex", "Norvia", "Hexmoor", "Altera", "Pellworth", "Quantrex", "Zelinka", "Tessaro",
)  # fmt: skip
FIRM_TAILS = ("Corp", "Holdings", "Motors", "and Sons", "Airways", "Bank", "Systems Ltd")
BODIES = (
    "Ministry of Trade", "Central Bank", "Reform Party", "Union of Miners", "Supreme Court", "NORTRA", "UFB", "IKL",
    "Green Alliance", "Bank of Kestovia", "University of Caldry",
)  # fmt: skip
PEOPLES = (
    "Kestovian", "Brenish", "Sarovian", "Orlandan", "Caldrian", "Belarian", "Talmeric", "Fenwegian", "Haldisian",
)  # fmt: skip
EVENTS = (
    "Ellery Cup", "Winter Regatta", "Treaty of Dunmarch", "Harvest Open", "Grand Prix", "Lantern Day",
    "Second Border War",
)  # fmt: skip

PATTERNS = (
    "{PERSON} , the president of {FIRM} , arrived in {PLACE} on {day} .",
    "{FIRM} said on {day} that it would open {number} offices in {PLACE} .",
    "{CLUB} beat {CLUB} {number} - {number} in the {EVENT} on {day} .",
    "{PERSON} scored {number} goals for {CLUB} against {CLUB} .",
    "the {PEOPLE} government has refused to talk to {FIRM} about the {thing} .",
    "{PERSON} won the {EVENT} again , ahead of {PERSON} of {PLACE} .",
    "police in {PLACE} found the {thing} near the border with {PLACE} .",
    "shares of {FIRM} fell {number} percent in {PLACE} after a report by {FIRM} .",
    "{PLACE} and {PLACE} agreed on the {EVENT} after {number} days of talks .",
    "the {thing} was sold to a {PEOPLE} company for {number} million .",
    "{PERSON} told {PERSON} to leave {PLACE} before {day} .",
    "a {PEOPLE} spokesman said {PERSON} was in {PLACE} to meet {PERSON} .",
    "{FIRM} named {PERSON} as its new head in {PLACE} .",
    "heavy rain fell on {PLACE} for {number} days .",
    "the {thing} arrived on {day} without any damage .",
    "no decision about the {thing} is expected before {day} .",
    "{PLACE} {number} {month} .",
    "{CLUB} {number} , {CLUB} {number} .",
    "{PEOPLE} voters trust {PERSON} more than {PERSON} , says a poll by {FIRM} .",
    "in {PLACE} , {PEOPLE} farmers blocked the road to {PLACE} with a {thing} .",
    "{PERSON} plays {PERSON} in the final of the {EVENT} .",
    "the {PEOPLE} champion , {PERSON} , lost in {number} sets to {PERSON} of {PLACE} .",
    "the {PEOPLE} {PERSON} , {number} , joins {CLUB} in {month} .",
    "{CLUB} will play at home on {day} .",
    "{PLACE} 's {PERSON} was fined {number} dollars .",
    "he left {CLUB} in {month} and went to {PLACE} .",
    "she said {FIRM} had not paid for the {thing} .",
    "results of the {EVENT} played on {day} in {PLACE} :",
)
FILLERS: dict[str, tuple[str, ...]] = {
    "day": ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"),
    "month": ("January", "March", "April", "June", "August", "October", "December"),
    "number": ("two", "three", "4", "5", "six", "7", "nine", "11", "12", "20", "27", "30"),
    "thing": (
        "ship",
        "report",
        "bridge",
        "factory",
        "parcel",
        "bus",
        "plan",
        "contract",
        "painting",
        "grain",
        "law",
        "tractor",
    ),
}

TAG_WORDS: dict[str, tuple[str, ...]] = {
    "DET": ("the", "a", "this", "every", "some", "that", "no", "each"),
    "NOUN": (
        "dog", "river", "walk", "plan", "teacher", "garden", "play", "light", "letter", "train", "answer", "street",
        "cook", "window", "report", "storm", "watch", "bridge", "farmer", "song", "market", "drink", "box", "hope",
    ),
    "VERB": (
        "sees", "walk", "plan", "runs", "play", "light", "finds", "train", "answer", "left", "cook", "opens", "report",
        "storm", "watch", "bridge", "sings", "follows", "market", "drink", "box", "hope", "keeps", "wants",
    ),
    "ADJ": ("old", "light", "green", "quiet", "long", "open", "left", "young", "heavy", "bright", "small", "clean"),
    "ADP": ("in", "on", "under", "near", "after", "with", "across", "behind"),
    "PRON": ("she", "he", "they", "it", "we", "that", "i", "this"),
}  # fmt: skip
"""Words by tag; several words stand under two tags or three, and "that" and "this" do so on purpose too."""
TAG_PATTERNS = (
    "DET NOUN VERB", "PRON VERB DET NOUN", "DET ADJ NOUN VERB DET NOUN", "PRON VERB ADP DET NOUN",
    "DET NOUN ADP DET NOUN VERB", "PRON VERB PRON ADP DET ADJ NOUN", "DET ADJ ADJ NOUN VERB ADP DET NOUN",
    "DET NOUN VERB ADJ", "ADP DET NOUN PRON VERB DET ADJ NOUN", "PRON VERB DET NOUN ADP DET NOUN",
)  # fmt: skip
TAGS = ("ADJ", "ADP", "DET", "NOUN", "PRON", "VERB")
