"""A run as a folder with an ONNX model: model.onnx, manifest.json, the words of a network, and predict.py to read it.

Axes: f feature, k class.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from crowdlogic.classifiers.features import COLUMNS, WIDTH
from crowdlogic.classifiers.protocol import MODEL, Arrays, ChainClassifier, decode_json
from crowdlogic.compat.production.manifest import make_manifest, rule_decoding
from crowdlogic.compat.production.onnx_graph import (
    hashed_graph,
    kim_graph,
    mlp_graph,
    numbers_graph,
    tagger_graph,
    weight,
)
from crowdlogic.errors import OptionError
from crowdlogic.learning.saved_run import Run

WORDS = "fixed.words"
WORD_FILE = "words.json"

Part = tuple[Any, dict[str, Any], dict[str, Any], list[str]]
"""The graph, how items become its inputs, how its scores become probabilities, and the words of a network."""


def write_onnx(run: Run, folder: Path) -> list[str]:
    """Write the files of a run into an empty folder; what a person should know of them."""
    name = run.record.config["method"]["classifier"]["name"]
    if name not in PARTS:
        raise OptionError(
            f"{run.folder}: a {name} classifier cannot be an ONNX model here; {', '.join(PARTS)} can. "
            f"A transformer goes to Hugging Face's format: --to hf."
        )
    if isinstance(run.classifier, ChainClassifier):
        raise OptionError(
            f"{run.folder}: the tags of its {name} form chains (chain = true), which an ONNX model here does not know. "
            f"Train without it, or predict with crowdlogic."
        )
    graph, preprocessing, decoding, words = PARTS[name](run, run.classifier.arrays())
    decoding = {**decoding, "rules": rule_decoding(run)}
    manifest = make_manifest(run, preprocessing, decoding)
    (folder / "model.onnx").write_bytes(graph.SerializeToString())
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    if words:
        (folder / WORD_FILE).write_text(json.dumps(words, ensure_ascii=False), encoding="utf-8")
    runtime = Path(__file__).with_name("runtime.py").read_text(encoding="utf-8")
    (folder / "predict.py").write_text(runtime, encoding="utf-8")
    if manifest["rules_exported"]:
        return []
    return ["Its rules look at words, so the model holds the classifier alone: the answers of predict --student."]


def _hashed(arrays: Arrays, options: Any) -> bool:
    """Whether a classifier over features looks at hashed words, and not at numbers."""
    return int(arrays[WIDTH]) == 1 << options.hash_bits and len(arrays[COLUMNS]) <= int(arrays[WIDTH])


def _linear(run: Run, arrays: Arrays) -> Part:
    return _over_features(run, arrays, arrays[MODEL + "weights"], arrays[MODEL + "bias"], {})


def _crf(run: Run, arrays: Arrays) -> Part:
    chain = {"start": arrays[MODEL + "start"].tolist(), "transitions": arrays[MODEL + "transitions"].tolist()}
    bias = 0.0 * arrays[MODEL + "start"]
    return _over_features(run, arrays, arrays[MODEL + "weights"], bias, {"chain": chain})


def _over_features(run: Run, arrays: Arrays, weights: Any, bias: Any, decoding: dict[str, Any]) -> Part:
    options: Any = run.classifier.options  # type: ignore[attr-defined]
    if not _hashed(arrays, options):
        return numbers_graph(weights, bias), {"kind": "numbers"}, decoding, []
    hashed = {"kind": "hashed", "max_ngram": options.max_ngram, "hash_bits": options.hash_bits}
    return hashed_graph(arrays, weights, bias), hashed, decoding, []


def _mlp(run: Run, arrays: Arrays) -> Part:  # noqa: ARG001 (its arrays say all)
    return mlp_graph(arrays), {"kind": "numbers"}, {}, []


def _kim(run: Run, arrays: Arrays) -> Part:
    options = run.record.config["method"]["classifier"]
    windows = tuple(options["windows"])
    graph = kim_graph(arrays, windows, int(options["filters"]))
    words = _words(options, tokenizer=options["tokenizer"], padding=max(windows) - 1, shapes=False)
    return graph, words, {}, decode_json(arrays[WORDS])


def _tagger(run: Run, arrays: Arrays) -> Part:
    options = run.record.config["method"]["classifier"]
    shapes, width = bool(options["shape_size"]), int(options["width"])
    bidirectional = bool(options["bidirectional"])
    weight(arrays, "output.weight")
    graph = tagger_graph(arrays, width, shapes=shapes, bidirectional=bidirectional)
    return graph, _words(options, tokenizer=None, padding=0, shapes=shapes), {}, decode_json(arrays[WORDS])


def _words(options: dict[str, Any], *, tokenizer: str | None, padding: int, shapes: bool) -> dict[str, Any]:
    """How words become numbers: 0 for padding, 1 for unknown words, then those of the file, in its order."""
    return {
        "kind": "words",
        "words": WORD_FILE,
        "tokenizer": tokenizer,
        "case_sensitive": bool(options["case_sensitive"]),
        "padding": padding,
        "shapes": shapes,
    }


PARTS = {"linear": _linear, "crf": _crf, "kim-cnn": _kim, "cnn-gru": _tagger, "mlp": _mlp}
"""The classifiers that become ONNX models, by name."""
