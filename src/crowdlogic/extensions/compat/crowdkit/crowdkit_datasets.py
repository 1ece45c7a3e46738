"""crowd-kit's data sets for classification, from the folder that crowd-kit downloads them to.

Nothing is downloaded here: a folder holds `<name>/crowd_labels.csv` and `<name>/gt.csv`, as crowd-kit leaves them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from crowdlogic.errors import MissingDataError, OptionError, did_you_mean, name_list

FOLDER_VARIABLE = "CROWDKIT_DATA"
"""The environment variable that names crowd-kit's folder."""

NAMES = {"performer": "worker", "workerId": "worker", "taskId": "task", "answer": "label", "truth": "label"}
"""Column names of the files, and what they mean."""


@dataclass(frozen=True)
class DatasetNote:
    """What a data set is.

    Attributes:
        description: What it holds.
    """

    description: str


DATASETS = {
    "relevance-2": DatasetNote("Relevance of pages to queries, two labels: 475,536 labels by 7,138 workers."),
    "relevance-5": DatasetNote("Relevance of pages to queries, five labels: 1,091,918 labels by 1,274 workers."),
    "netease_crowd": DatasetNote("NetEaseCrowd, tasks of several kinds: 6,016,319 labels by 2,413 workers."),
    "nist-trec-relevance": DatasetNote("NIST TREC relevance feedback 2010: 98,453 labels by 766 workers."),
}


def get_datasets_list() -> list[tuple[str, str]]:
    """The name of each data set, and what it holds."""
    return [(name, note.description) for name, note in DATASETS.items()]


def load_dataset(dataset: str, data_dir: str | Path | None = None) -> tuple[Any, Any]:
    """The answers of a data set as a frame (task, worker, label), and the true labels as a series by task.

    Args:
        dataset: Its name.
        data_dir: crowd-kit's folder; else CROWDKIT_DATA names it, else it is crowdkit_data in your home folder.
    """
    import pandas as pd

    if dataset not in DATASETS:
        raise OptionError(
            f"No data set is called {dataset!r}.{did_you_mean(dataset, list(DATASETS))} "
            f"There are {name_list(DATASETS)}."
        )
    home = Path(data_dir or os.environ.get(FOLDER_VARIABLE) or Path.home() / "crowdkit_data") / dataset
    files = (home / "crowd_labels.csv", home / "gt.csv")
    for file in files:
        if not file.is_file():
            raise MissingDataError(
                f"{file}: is not there. Download {dataset} once with crowd-kit's own load_dataset, or name the folder "
                f"that holds it: data_dir, or {FOLDER_VARIABLE}."
            )
    answers, truth = (pd.read_csv(file).rename(columns=NAMES) for file in files)
    return answers[["worker", "task", "label"]], truth.set_index("task")["label"].rename("true_label")
