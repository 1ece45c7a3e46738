"""A run directory: what a fit was given, what it left, and a checkpoint while it runs. No pickle, nothing that can run.

    config.json            method, model, seed, classes, rules and transitions, names of the inputs; the run's status
    model.safetensors      what the classifier knows
    labels.parquet         item, answer, confidence, p_<class>; and what classifier, crowd and rules each believe
    annotators.parquet     one row per annotator
    confusion.safetensors  confusion[j, m, n]
    crowd.parquet          the labels it learnt from, as codes
    items.parquet          the items themselves
    rules.json             the audit of every rule
    history.jsonl          one line per epoch
    tables/, words/        the facts and word lists that rules speak of
    checkpoint/            there while the fit runs

Every file is written whole or not at all. A directory may be moved: it needs nothing from outside.

Axes: i unit, j annotator, k class, m true class, n given label, l rule.
"""

from crowdlogic.runs.checkpoint import RunKeeper
from crowdlogic.runs.claiming import Status, claim, is_run, read_config, refuse_taken
from crowdlogic.runs.fingerprints import corpus_digest, digest_of, labels_digest
from crowdlogic.runs.kept import Kept, read_run, write_run

__all__ = [
    "Kept",
    "RunKeeper",
    "Status",
    "claim",
    "corpus_digest",
    "digest_of",
    "is_run",
    "labels_digest",
    "read_config",
    "read_run",
    "refuse_taken",
    "write_run",
]
