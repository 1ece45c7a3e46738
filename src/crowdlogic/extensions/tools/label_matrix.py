"""Reader for Snorkel's label matrices of labelling functions: L[item, function], -1 where a function abstains.

A .npy file contains the matrix (`numpy.save`). A .npz file contains it as `L`, or as its only integer matrix, and may
contain gold labels as `Y` and the names of the functions as `lfs`. Arrays are read without pickle.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from tokenize import TokenError

import numpy as np
from numpy.typing import NDArray

from crowdlogic.data.corpus import UNKNOWN, Corpus, align
from crowdlogic.data.files import InputFile
from crowdlogic.data.folders import DAMAGED_ZIP, ZIP_MAGIC, require_unpackable, unpacked_limit
from crowdlogic.data.formats.protocol import Crowd, ReadOptions
from crowdlogic.data.frames import from_matrix
from crowdlogic.errors import FormatError
from crowdlogic.extensions.tools.collector import ToolExport

ABSTAIN = -1
MATRIX, GOLD, FUNCTIONS = "L", "Y", "lfs"
NUMPY_MAGIC = b"\x93NUMPY"
UNREADABLE = (*DAMAGED_ZIP, KeyError, MemoryError, TypeError, SyntaxError, TokenError)
"""Exceptions that numpy raises for damaged files."""

Arrays = dict[str, NDArray[np.generic]]


class LabelMatrix(ToolExport):
    """A label matrix with items as rows and labelling functions as columns."""

    name, title, suffixes = "label-matrix", "a label matrix", (".npy", ".npz")

    def recognises(self, head: bytes) -> bool:
        """Return whether the file starts with numpy's magic bytes."""
        return head.startswith(NUMPY_MAGIC)

    def read_crowd(self, file: InputFile, options: ReadOptions) -> Crowd:
        """Read the labels of all functions, and gold labels if the file has them."""
        arrays = _load(file)
        matrix = _find_matrix(arrays, file)
        functions = _function_names(arrays.get(FUNCTIONS), matrix.shape[1], file)
        labels = from_matrix(matrix, missing=ABSTAIN, classes=options.classes, annotators=functions)
        labels = replace(labels, kind=("code",) * len(labels.annotators))
        gold = arrays.get(GOLD)
        if gold is None:
            return Crowd(labels)
        if gold.shape != (len(matrix),) or not np.issubdtype(gold.dtype, np.integer):
            raise FormatError(f"{file.name}: {GOLD} must have one integer per row of the matrix. Save it again.")
        known = np.unique(gold[gold != ABSTAIN])
        codes = np.where(gold == ABSTAIN, UNKNOWN, np.searchsorted(known, gold)).astype(np.int32)
        names = tuple(known.tolist()) if options.classes is None else labels.classes
        if options.classes is not None:
            codes = np.where(gold == ABSTAIN, UNKNOWN, gold).astype(np.int32)
        return Crowd(*align(labels, Corpus(labels.items, classes=names, gold=codes)))


LABEL_MATRIX = LabelMatrix()


def _load(file: InputFile) -> Arrays:
    """Read the arrays of a file after checking their sizes."""
    content = file.content
    limit = unpacked_limit(len(content))
    try:
        if content[:4] == ZIP_MAGIC:
            with zipfile.ZipFile(io.BytesIO(content)) as packed:
                require_unpackable(sum(entry.file_size for entry in packed.infolist()), limit, file.name)
            with np.load(io.BytesIO(content), allow_pickle=False) as archive:
                return {name: _whole(archive[name], file) for name in archive.files}
        return {MATRIX: _whole(np.load(io.BytesIO(content), allow_pickle=False), file)}
    except FormatError:
        raise
    except UNREADABLE as problem:
        raise FormatError(f"{file.name}: the array cannot be read ({str(problem)[:80]}). Save it again.") from problem


def _whole(array: object, file: InputFile) -> NDArray[np.generic]:
    if not isinstance(array, np.ndarray):
        raise FormatError(f"{file.name}: contains data other than arrays. Save the matrix with numpy.save.")
    return array


def _find_matrix(arrays: Arrays, file: InputFile) -> NDArray[np.int64]:
    """Return the matrix: L, or the only integer matrix."""
    fitting = [name for name, array in arrays.items() if array.ndim == 2 and np.issubdtype(array.dtype, np.integer)]
    name = MATRIX if MATRIX in arrays else fitting[0] if len(fitting) == 1 else None
    if name not in fitting:
        what = ", ".join(f"{key} ({array.ndim}-d of {array.dtype})" for key, array in arrays.items()) or "nothing"
        raise FormatError(f"{file.name}: expected an integer matrix (items x functions), found: {what}. Save it as L.")
    return arrays[name].astype(np.int64)


def _function_names(names: NDArray[np.generic] | None, width: int, file: InputFile) -> list[str]:
    if names is None:
        return [f"lf_{j}" for j in range(width)]
    found = [str(name) for name in names.ravel().tolist()]
    if len(found) != width or len(set(found)) != width:
        raise FormatError(f"{file.name}: {FUNCTIONS} must have one distinct name for each of the {width} functions.")
    return found
