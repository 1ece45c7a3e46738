"""Noisy crowd labels and the rules people already know, made into clean labels and a verdict on every annotator."""

from crowdlogic.data.answers import read_answers, write_estimate
from crowdlogic.data.benchmarks import load_benchmark
from crowdlogic.data.corpus import Corpus, align, documents, sentences
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.frames import from_arrays, from_dict, from_frame, from_matrix, from_sequences, from_wide
from crowdlogic.data.joining import concatenate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.reading import read_corpus, read_crowd, read_labels
from crowdlogic.data.saving import write_corpus, write_labels
from crowdlogic.data.vectors import WordVectors, read_vectors
from crowdlogic.truth.voting import MajorityVote

__version__ = "0.1.0"

__all__ = [
    "Beliefs",
    "Corpus",
    "CrowdLabels",
    "Estimate",
    "MajorityVote",
    "WordVectors",
    "align",
    "concatenate",
    "documents",
    "from_arrays",
    "from_dict",
    "from_frame",
    "from_matrix",
    "from_sequences",
    "from_wide",
    "load_benchmark",
    "read_answers",
    "read_corpus",
    "read_crowd",
    "read_labels",
    "read_vectors",
    "sentences",
    "write_corpus",
    "write_estimate",
    "write_labels",
]
