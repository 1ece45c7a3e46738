"""Noisy crowd labels and the rules people already know, made into clean labels and a verdict on every annotator."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from crowdlogic.data.answers import read_answers, write_estimate
from crowdlogic.data.benchmarks import load_benchmark
from crowdlogic.data.corpus import Corpus, align, documents, sentences
from crowdlogic.data.estimate import Beliefs, Estimate
from crowdlogic.data.frames import from_arrays, from_dict, from_frame, from_matrix, from_sequences, from_wide
from crowdlogic.data.joining import concatenate
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.reading import read_corpus, read_crowd, read_labels
from crowdlogic.data.vectors import WordVectors, read_vectors
from crowdlogic.data.writing import write_corpus, write_labels
from crowdlogic.truth.majority import MajorityVote

if TYPE_CHECKING:
    from crowdlogic.classifiers.cnn_gru import CNNGRU
    from crowdlogic.classifiers.kim_cnn import KimCNN
    from crowdlogic.classifiers.linear import Linear
    from crowdlogic.classifiers.mlp import MLP
    from crowdlogic.learning.crf_ma import CRFMA
    from crowdlogic.learning.crowd_layer import CrowdLayer
    from crowdlogic.learning.doctor_nets import DoctorNets
    from crowdlogic.learning.learned import Learned
    from crowdlogic.learning.logic_lncl import LogicLNCL
    from crowdlogic.learning.restoring import load_run
    from crowdlogic.learning.settled_truth import SettledTruth
    from crowdlogic.learning.special import AggNet, Raykar
    from crowdlogic.learning.stopping import HeldOut
    from crowdlogic.learning.two_stage import Gold, TwoStage
    from crowdlogic.rules.parser import parse_rules, read_rules
    from crowdlogic.truth.annotators import annotator_table
    from crowdlogic.truth.bsc_seq import BSCSeq
    from crowdlogic.truth.dawid_skene import DawidSkene
    from crowdlogic.truth.ebcc import EBCC
    from crowdlogic.truth.fitting import Fitting
    from crowdlogic.truth.glad import GLAD
    from crowdlogic.truth.hmm_crowd import HMMCrowd
    from crowdlogic.truth.ibcc import IBCC
    from crowdlogic.truth.incremental import stand
    from crowdlogic.truth.keeping import load_estimate, save_estimate
    from crowdlogic.truth.mace import MACE
    from crowdlogic.truth.one_coin import OneCoin
    from crowdlogic.truth.weighting import CATD, PM, Wawa

__version__ = "0.1.0"

_LATE = {
    "AggNet": "crowdlogic.learning.special",
    "BSCSeq": "crowdlogic.truth.bsc_seq",
    "CATD": "crowdlogic.truth.weighting",
    "CNNGRU": "crowdlogic.classifiers.cnn_gru",
    "CRFMA": "crowdlogic.learning.crf_ma",
    "CrowdLayer": "crowdlogic.learning.crowd_layer",
    "DawidSkene": "crowdlogic.truth.dawid_skene",
    "DoctorNets": "crowdlogic.learning.doctor_nets",
    "EBCC": "crowdlogic.truth.ebcc",
    "Fitting": "crowdlogic.truth.fitting",
    "GLAD": "crowdlogic.truth.glad",
    "Gold": "crowdlogic.learning.two_stage",
    "HMMCrowd": "crowdlogic.truth.hmm_crowd",
    "HeldOut": "crowdlogic.learning.stopping",
    "IBCC": "crowdlogic.truth.ibcc",
    "KimCNN": "crowdlogic.classifiers.kim_cnn",
    "Learned": "crowdlogic.learning.learned",
    "Linear": "crowdlogic.classifiers.linear",
    "LogicLNCL": "crowdlogic.learning.logic_lncl",
    "MACE": "crowdlogic.truth.mace",
    "MLP": "crowdlogic.classifiers.mlp",
    "OneCoin": "crowdlogic.truth.one_coin",
    "PM": "crowdlogic.truth.weighting",
    "Raykar": "crowdlogic.learning.special",
    "SettledTruth": "crowdlogic.learning.settled_truth",
    "TwoStage": "crowdlogic.learning.two_stage",
    "Wawa": "crowdlogic.truth.weighting",
    "annotator_table": "crowdlogic.truth.annotators",
    "load_estimate": "crowdlogic.truth.keeping",
    "load_run": "crowdlogic.learning.restoring",
    "parse_rules": "crowdlogic.rules.parser",
    "read_rules": "crowdlogic.rules.parser",
    "save_estimate": "crowdlogic.truth.keeping",
    "stand": "crowdlogic.truth.incremental",
}
"""Where to find what is loaded only when asked for, so that importing crowdlogic is quick."""

__all__ = [
    "CATD",
    "CNNGRU",
    "CRFMA",
    "EBCC",
    "GLAD",
    "IBCC",
    "MACE",
    "MLP",
    "PM",
    "AggNet",
    "BSCSeq",
    "Beliefs",
    "Corpus",
    "CrowdLabels",
    "CrowdLayer",
    "DawidSkene",
    "DoctorNets",
    "Estimate",
    "Fitting",
    "Gold",
    "HMMCrowd",
    "HeldOut",
    "KimCNN",
    "Learned",
    "Linear",
    "LogicLNCL",
    "MajorityVote",
    "OneCoin",
    "Raykar",
    "SettledTruth",
    "TwoStage",
    "Wawa",
    "WordVectors",
    "align",
    "annotator_table",
    "concatenate",
    "documents",
    "from_arrays",
    "from_dict",
    "from_frame",
    "from_matrix",
    "from_sequences",
    "from_wide",
    "load_benchmark",
    "load_estimate",
    "load_run",
    "parse_rules",
    "read_answers",
    "read_corpus",
    "read_crowd",
    "read_labels",
    "read_rules",
    "read_vectors",
    "save_estimate",
    "sentences",
    "stand",
    "write_corpus",
    "write_estimate",
    "write_labels",
]


def __getattr__(name: str) -> Any:
    if name in _LATE:
        return getattr(import_module(_LATE[name]), name)
    raise AttributeError(f"module 'crowdlogic' has no attribute {name!r}")
