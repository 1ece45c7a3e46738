"""Simulated data with planted truth: crowds, reviews, tagged sentences. Everything follows from one seed."""

from crowdlogic.data.simulate.characters import Character, planted_confusion
from crowdlogic.data.simulate.crowds import SimulatedCrowd, answer, hard_crowd, label_truth, simulate_crowd

__all__ = [
    "Character",
    "SimulatedCrowd",
    "answer",
    "hard_crowd",
    "label_truth",
    "planted_confusion",
    "simulate_crowd",
]
