"""Simulated data with a known truth: crowds, reviews, sentences with entities. Results only depend on the seed."""

from crowdlogic.data.simulate.crowds import (
    Character,
    SimulatedCrowd,
    draw_labels,
    label_truth,
    planted_confusion,
    simulate_crowd,
    simulate_hard_crowd,
)
from crowdlogic.data.simulate.reviews import SimulatedReviews, simulate_reviews
from crowdlogic.data.simulate.sentences import (
    ErrorRates,
    SimulatedEntities,
    TaggerCharacter,
    annotate_entities,
    simulate_entities,
    simulate_sentences,
)
from crowdlogic.data.simulate.simulations import Simulation, simulate_labels, simulate_ner, simulate_sentiment

__all__ = [
    "Character",
    "ErrorRates",
    "SimulatedCrowd",
    "SimulatedEntities",
    "SimulatedReviews",
    "Simulation",
    "TaggerCharacter",
    "annotate_entities",
    "draw_labels",
    "label_truth",
    "planted_confusion",
    "simulate_crowd",
    "simulate_entities",
    "simulate_hard_crowd",
    "simulate_labels",
    "simulate_ner",
    "simulate_reviews",
    "simulate_sentences",
    "simulate_sentiment",
]
