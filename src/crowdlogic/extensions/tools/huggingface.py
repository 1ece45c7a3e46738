"""Reader and writer for Hugging Face datasets on disk, as used by `save_to_disk` and `load_from_disk`.

The rows are Arrow streams, which polars reads and writes; `dataset_info.json` describes the columns. A column of class
names is stored as a ClassLabel: numbers with names. A folder with several splits contains one such folder per split.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.files import InputFile
from crowdlogic.data.folders import Folder
from crowdlogic.data.formats.protocol import Encoded
from crowdlogic.data.formats.tables import UNREADABLE, TableFormat, labels_table, require_rows
from crowdlogic.data.intake.contract import TableSource
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import sort_classes
from crowdlogic.errors import DataError, FormatError, name_list

INFO, STATE, SPLITS = "dataset_info.json", "state.json", "dataset_dict.json"
ROWS = "data-00000-of-00001.arrow"
CLASS_COLUMNS = ("label", "tags")
"""Text columns that are written as a ClassLabel."""


class HuggingFace(TableFormat):
    """A folder of Arrow files with a description of the columns."""

    name, title, suffixes = "huggingface", "a Hugging Face dataset", (".hf",)
    writes_folder = True

    def recognises_folder(self, folder: Folder) -> bool:
        """Return whether the folder contains a dataset or several splits."""
        return {INFO, STATE} <= set(folder.names) or SPLITS in folder.names

    def read_table(self, file: InputFile) -> tuple[pl.DataFrame, TableSource]:
        """Read the rows of the only split, with class numbers replaced by names."""
        if not file.is_folder:
            raise FormatError(f"{file.name}: a Hugging Face dataset is a folder. Give the one written by save_to_disk.")
        folder = file.folder
        at = _find_split(folder, file.name)
        state, info = _read_json(folder, f"{at}{STATE}"), _read_json(folder, f"{at}{INFO}")
        parts = [_read_rows(folder, f"{at}{name}") for name in _row_files(state, f"{file.name}: {at}{STATE}")]
        if not parts:
            raise FormatError(f"{file.name}: {at}{STATE} lists no data files. Save the dataset again.")
        table = pl.concat(parts, how="vertical_relaxed")
        features = info.get("features")
        for column, feature in (features if isinstance(features, dict) else {}).items():
            names = _class_names(feature)
            if names and column in table.columns and _inner(table[column].dtype).is_integer():
                table = table.with_columns(_replace(table[column], dict(enumerate(names)), pl.String))
        return require_rows(table, file.name), TableSource(file.name)

    def encode_labels(self, labels: CrowdLabels, corpus: Corpus | None, target: str) -> Encoded:
        """Encode labels as a long table, with texts if known; for sequences, one row per tagged sentence."""
        return self.encode_table(_add_texts(labels_table(labels), corpus), target)

    def encode_estimate(self, estimate: Estimate, corpus: Corpus | None, target: str) -> Encoded:
        """Encode answers, with texts if known: item, text, label, confidence, p_ columns."""
        if estimate.offsets is not None:
            return super().encode_estimate(estimate, corpus, target)
        return self.encode_table(_add_texts(estimate.to_frame(), corpus), target)

    def encode_table(self, table: pl.DataFrame, target: str) -> Encoded:  # noqa: ARG002 (no column is required)
        """Encode the files of the folder."""
        features: dict[str, Any] = {}
        for column in table.columns:
            names = _classes_in(table[column]) if column in CLASS_COLUMNS else None
            if names is not None:
                codes = {name: code for code, name in enumerate(names)}
                table = table.with_columns(_replace(table[column], codes, pl.Int64))
            features[column] = _feature(table[column].dtype, names)
        rows = io.BytesIO()
        table.write_ipc_stream(rows, compat_level=pl.CompatLevel.oldest())
        info = {"citation": "", "description": "", "features": features, "homepage": "", "license": ""}
        state: dict[str, Any] = {
            "_data_files": [{"filename": ROWS}],
            # The key of the cache of `datasets`; a hash of the rows, so that it is reproducible
            "_fingerprint": hashlib.blake2b(rows.getvalue(), digest_size=8).hexdigest(),
            "_format_columns": None,
            "_format_kwargs": {},
            "_format_type": None,
            "_output_all_columns": False,
            "_split": None,
        }
        return {ROWS: rows.getvalue(), INFO: _to_json(info), STATE: _to_json(state)}


HUGGINGFACE = HuggingFace()


def _to_json(value: Any) -> bytes:
    return json.dumps(value, indent=2, ensure_ascii=False).encode()


def _find_split(folder: Folder, name: str) -> str:
    """Return the path of the only split within the folder, ending in a slash; empty if the folder is the split."""
    if SPLITS not in folder.names:
        return ""
    splits = _read_json(folder, SPLITS).get("splits")
    if not isinstance(splits, list) or not all(isinstance(split, str) for split in splits) or not splits:
        raise FormatError(f"{name}: {SPLITS} lists no splits. Save the dataset again.")
    if len(splits) > 1:
        raise FormatError(
            f"{name}: contains the splits {name_list(splits)}. Give the folder of one split, such as "
            f"{name}/{splits[0]}."
        )
    return f"{splits[0]}/"


def _read_json(folder: Folder, name: str) -> dict[str, Any]:
    if name not in folder.names:
        raise FormatError(f"{folder.name}: {name} is missing. Save the dataset again, with save_to_disk.")
    try:
        found = json.loads(folder.read(name))
    except (ValueError, RecursionError) as problem:
        raise FormatError(f"{folder.name}: {name} is not JSON ({problem}). Save the dataset again.") from None
    if not isinstance(found, dict):
        raise FormatError(f"{folder.name}: {name} is not a JSON object. Save the dataset again.")
    return found


def _row_files(state: Mapping[str, Any], where: str) -> list[str]:
    """Return the names of the data files. A name that points outside the folder raises an error."""
    entries = state.get("_data_files")
    names = [entry.get("filename") if isinstance(entry, dict) else None for entry in entries or ()]
    for name in names:
        if not isinstance(name, str) or PurePosixPath(name).name != name:
            raise FormatError(f"{where}: {name!r} is not a file in this folder. Save the dataset again.")
    return [str(name) for name in names]


def _read_rows(folder: Folder, name: str) -> pl.DataFrame:
    if name not in folder.names:
        raise FormatError(f"{folder.name}: {name} is missing. Save the dataset again.")
    try:
        return pl.read_ipc_stream(io.BytesIO(folder.read(name)))
    except UNREADABLE as problem:
        if isinstance(problem, DataError):
            raise
        text = str(problem)[:80]
        raise FormatError(f"{folder.name}: {name} cannot be read as an Arrow stream ({text}).") from problem


def _class_names(feature: Any) -> list[str] | None:
    """Return the names of a ClassLabel, or of the ClassLabels in a list; None for other columns."""
    while isinstance(feature, dict) and feature.get("_type") in ("List", "LargeList", "Sequence"):
        feature = feature.get("feature")
    if not isinstance(feature, dict) or feature.get("_type") != "ClassLabel":
        return None
    names = feature.get("names")
    return names if isinstance(names, list) and all(isinstance(name, str) for name in names) else None


def _replace(column: pl.Series, new: Mapping[Any, Any], dtype: Any) -> pl.Series:
    """Replace the values of a column, or of its lists; other values, such as the class number -1, become missing."""
    old, values = pl.Series(list(new)), pl.Series(list(new.values()), dtype=dtype)
    if isinstance(column.dtype, pl.List):
        return column.list.eval(pl.element().replace_strict(old, values, default=None))
    return column.replace_strict(old, values, default=None)


def _inner(dtype: Any) -> Any:
    """Return the type of the values in a column, or in its lists."""
    return dtype.inner if isinstance(dtype, pl.List) else dtype


def _classes_in(column: pl.Series) -> list[str] | None:
    """Return the classes of a column of text or lists of text; None for other types."""
    if _inner(column.dtype) != pl.String:
        return None
    flat = column.explode() if isinstance(column.dtype, pl.List) else column
    return [str(name) for name in sort_classes(flat.drop_nulls().to_list())]


def _feature(dtype: Any, names: list[str] | None) -> dict[str, Any]:
    """Describe a column for dataset_info.json. polars writes the large variants of strings and lists."""
    if isinstance(dtype, pl.List):
        return {"feature": _feature(dtype.inner, names), "_type": "LargeList"}
    if names is not None:
        return {"names": names, "_type": "ClassLabel"}
    kinds = {pl.String: "large_string", pl.Boolean: "bool"}
    return {"dtype": kinds.get(dtype.base_type(), str(dtype).lower()), "_type": "Value"}


def _add_texts(table: pl.DataFrame, corpus: Corpus | None) -> pl.DataFrame:
    """Add a column of texts after the item, if the texts are known."""
    if corpus is None or corpus.texts is None or "tags" in table.columns:
        return table
    texts = pl.DataFrame({"item": corpus.items, "text": pl.Series(corpus.texts, dtype=pl.String)})
    return table.join(texts, on="item", how="left", maintain_order="left").select(
        "item", "text", pl.exclude("item", "text")
    )
