"""A review from its folder: what was decided there before is there again, and only one process works in it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from crowdlogic.data.files import STANDARD_STREAM
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import OptionError
from crowdlogic.store.decisions import DecisionLog
from crowdlogic.store.locks import lock
from crowdlogic.workflows.review.exports import write_anchors
from crowdlogic.workflows.review.material import ReviewMaterial
from crowdlogic.workflows.review.moment import ServingOptions
from crowdlogic.workflows.review.session import DEFAULT_SERVING, ReviewSession

LOG = "decisions.sqlite"
"""The file of the decisions, in the folder of a review."""


def default_folder(source: str) -> Path:
    """Where a review goes if nobody says: a folder here, called after what is reviewed."""
    if source == STANDARD_STREAM:
        raise OptionError("A review of standard input needs a folder: -o DIR.")
    return Path(f"{Path(source).resolve().name.split('.')[0] or 'labels'}-review")


@contextmanager
def open_review(
    material: ReviewMaterial, folder: Path, serving: ServingOptions = DEFAULT_SERVING
) -> Iterator[ReviewSession]:
    """Open the review of a folder, with the decisions that are in it; the folder is made when it is not there.

    However the review ends, `anchors.csv` in the folder then holds what was decided.

    Args:
        material: What is reviewed.
        folder: The folder of the review.
        serving: How items are served; a review that goes on keeps its own seed.
    """
    if not 0 <= serving.share <= 1:
        raise OptionError(f"--random: {serving.share:g} is no share. Give one from 0 to 1.")
    _claim(folder)
    with lock(folder, "serving this review"):
        log = DecisionLog(folder / LOG)
        try:
            _check_items(log, material.labels, folder)
            kept = replace(serving, seed=_keep_seed(log, serving.seed))
            session = ReviewSession(material, log, serving=kept)
            if session.waiting:
                session.refit()
            try:
                yield session
            finally:
                write_anchors(session, folder)
        finally:
            log.close()


def _claim(folder: Path) -> None:
    """Make the folder, or make sure that it is a review's."""
    if folder.exists() and not folder.is_dir():
        raise OptionError(f"{folder}: is a file. Name a folder for the review.")
    if not folder.parent.is_dir():
        raise OptionError(f"{folder}: the folder {folder.parent} does not exist. Make it first.")
    if folder.is_dir() and any(folder.iterdir()) and not (folder / LOG).is_file():
        raise OptionError(f"{folder}: holds other files and no review. Name a new or an empty folder.")
    folder.mkdir(exist_ok=True)


def _check_items(log: DecisionLog, labels: CrowdLabels, folder: Path) -> None:
    """Refuse a review of other items or classes; more labels of the same items are welcome."""
    found = hashlib.sha256()
    for name in (*labels.items.to_list(), "", *labels.classes):
        found.update(f"{name}\0".encode("utf-8", "backslashreplace"))
    known = log.fact("items")
    if known is None:
        log.set_fact("items", found.hexdigest())
    elif known != found.hexdigest():
        raise OptionError(f"{folder}: is a review of other items or classes. Name another folder.")


def _keep_seed(log: DecisionLog, seed: int) -> int:
    """The seed of the random sample: the one that the review began with."""
    known = log.fact("seed")
    if known is None:
        log.set_fact("seed", str(seed))
        return seed
    return int(known) if known.isdigit() else seed
