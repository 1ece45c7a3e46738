"""crowd-kit's classification data sets, read from the folder to which crowd-kit downloads them.

Nothing is downloaded. The folder contains `<name>/crowd_labels.csv` and `<name>/gt.csv`, as written by crowd-kit.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from crowdlogic.errors import MissingDataError, OptionError, did_you_mean, name_list

FOLDER_VARIABLE = "CROWDKIT_DATA"
"""Environment variable with the path of crowd-kit's folder."""

NAMES = {"performer": "worker", "workerId": "worker", "taskId": "task", "answer": "label", "truth": "label"}
"""Column names in the files -> standard names."""


DATASETS = {
    "relevance-2": "Relevance of pages to queries, two labels: 475,536 labels by 7,138 workers.",
    "relevance-5": "Relevance of pages to queries, five labels: 1,091,918 labels by 1,274 workers.",
    "netease_crowd": "NetEaseCrowd, tasks of several kinds: 6,016,319 labels by 2,413 workers.",
    "nist-trec-relevance": "NIST TREC relevance feedback 2010: 98,453 labels by 766 workers.",
}
"""Content and size of each data set."""


def get_datasets_list() -> list[tuple[str, str]]:
    """Return the name and the description of each data set."""
    return list(DATASETS.items())


def load_dataset(dataset: str, data_dir: str | Path | None = None) -> tuple[Any, Any]:
    """Load the answers of a data set as a data frame (task, worker, label) and the true labels by task.

    Args:
        dataset: Name of the data set.
        data_dir: crowd-kit's folder; by default that in CROWDKIT_DATA, otherwise crowdkit_data in the home folder.
    """
    import pandas as pd

    if dataset not in DATASETS:
        raise OptionError(
            f"There is no data set {dataset!r}.{did_you_mean(dataset, list(DATASETS))} "
            f"Choose one of {name_list(DATASETS)}."
        )
    home = Path(data_dir or os.environ.get(FOLDER_VARIABLE) or Path.home() / "crowdkit_data") / dataset
    files = (home / "crowd_labels.csv", home / "gt.csv")
    for file in files:
        if not file.is_file():
            raise MissingDataError(
                f"{file}: file not found. Download {dataset} with crowd-kit's own load_dataset, or give the folder "
                f"that contains it: data_dir, or {FOLDER_VARIABLE}."
            )
    answers, truth = (pd.read_csv(file).rename(columns=NAMES) for file in files)
    return answers[["worker", "task", "label"]], truth.set_index("task")["label"].rename("true_label")
