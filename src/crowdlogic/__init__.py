"""Noisy crowd labels and the rules people already know, made into clean labels and a verdict on every annotator."""

from crowdlogic.data.corpus import Corpus, align, documents, sentences
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.frames import from_arrays, from_dict, from_frame, from_matrix, from_sequences, from_wide
from crowdlogic.data.joining import concatenate
from crowdlogic.data.labels import CrowdLabels

__version__ = "0.1.0"

__all__ = [
    "Beliefs",
    "Corpus",
    "CrowdLabels",
    "Estimate",
    "align",
    "concatenate",
    "documents",
    "from_arrays",
    "from_dict",
    "from_frame",
    "from_matrix",
    "from_sequences",
    "from_wide",
    "sentences",
]
