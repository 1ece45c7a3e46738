"""Simulated data with planted truth: crowds, reviews, tagged sentences. Everything follows from one seed."""

from crowdlogic.data.simulate.characters import Character, planted_confusion
from crowdlogic.data.simulate.crowds import SimulatedCrowd, answer, hard_crowd, label_truth, simulate_crowd
from crowdlogic.data.simulate.reviews import SimulatedReviews, simulate_reviews

__all__ = [
    "Character",
    "SimulatedCrowd",
    "SimulatedReviews",
    "answer",
    "hard_crowd",
    "label_truth",
    "planted_confusion",
    "simulate_crowd",
    "simulate_reviews",
]
