"""A run directory: the files in it, and how far the run is.

    config.json              method, model, seed, classes, rules and transitions, names of the inputs; the run's status
    model.safetensors        the classifier's arrays
    labels.parquet           item, answer, confidence, p_<class>; and the beliefs of classifier, crowd and rules
    annotators.parquet       one row per annotator
    annotators.safetensors   the annotator model's arrays, confusion[j, m, n] among them
    crowd.parquet            the labels that it learnt from, as codes
    items.parquet            the items themselves
    items.safetensors        their features, where they have any
    rules.json               the audit of every rule
    history.jsonl            one line per epoch
    refit.jsonl              the same of the second pass, with all labels, where there was one
    tables/, words/          the facts and word lists that rules speak of
    SHA256SUMS               the checksum of each of these, once the run is done
    checkpoint/              there while the fit runs; checkpoint-refit/ that of the second pass

Every file is written whole or not at all. A directory may be moved: it needs nothing from outside, and a link to
something outside is refused.

Axes: j annotator, m true class, n given label.
"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Any

from crowdlogic.errors import FormatError, MissingDataError
from crowdlogic.store.files import get_json, get_lines, put_json
from crowdlogic.store.own_files import check_own_files

CONFIG, HISTORY, REFIT_HISTORY, RULES = "config.json", "history.jsonl", "refit.jsonl", "rules.json"
MODEL, ANNOTATOR_ARRAYS, FEATURES = "model.safetensors", "annotators.safetensors", "items.safetensors"
ANSWERS, ANNOTATORS, CROWD, ITEMS = "labels.parquet", "annotators.parquet", "crowd.parquet", "items.parquet"
TABLES, WORDS, CHECKPOINT, REFIT_CHECKPOINT = "tables", "words", "checkpoint", "checkpoint-refit"
FOLDERS = (TABLES, WORDS, CHECKPOINT, REFIT_CHECKPOINT)
"""The folders of a run; it touches no other."""

VERSION = 3
"""Of the layout: a run of another version is refused and not misread."""


class Status(StrEnum):
    """How far a run is."""

    running = "running"
    interrupted = "interrupted"
    done = "done"


def is_run(folder: Path) -> bool:
    """Whether a run is here."""
    return (folder / CONFIG).is_file()


def read_config(folder: Path) -> dict[str, Any]:
    """The run's config.json."""
    if not is_run(folder):
        raise MissingDataError(f"{folder}: no {CONFIG} in it, so it is no run. Name a folder that `train` wrote.")
    check_own_files(folder, FOLDERS)
    config = get_json(folder / CONFIG)
    if not isinstance(config, dict) or config.get("version") != VERSION or config.get("status") not in list(Status):
        raise FormatError(f"{folder / CONFIG}: is no run of version {VERSION}. Train it again with this version.")
    return config


def set_status(folder: Path, status: Status) -> None:
    """Note how far the run is, if it is a run yet."""
    if is_run(folder):
        put_json(folder / CONFIG, read_config(folder) | {"status": status})


def last_epoch(folder: Path) -> str:
    """The last epoch of a run that is finished, in words; empty before the first."""
    first, refit = (_count_lines(folder / name) for name in (HISTORY, REFIT_HISTORY))
    if refit:
        return f"epoch {refit} of the second pass"
    return f"epoch {first}" if first else ""


def _count_lines(path: Path) -> int:
    return len(get_lines(path)) if path.is_file() else 0
