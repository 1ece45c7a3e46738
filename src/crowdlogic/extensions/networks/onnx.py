"""Export of a run as an ONNX model: model.onnx, manifest.json, the words of a network, and predict.py to use it.

The graphs are built from the saved arrays of linear, CRF, Kim-CNN, CNN-GRU and MLP classifiers. A graph takes the
arrays prepared by `runtime` and returns scores; `runtime` computes the softmax and decodes tags in double precision.

Axes: i unit, s sentence, t position, d dimension, f feature or filter, k class, z a gate of the GRU.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crowdlogic.classifiers.features import COLUMNS, ROW_NORM, SCALE, WIDTH
from crowdlogic.classifiers.protocol import FIXED, MODEL, Arrays, ChainClassifier, decode_json
from crowdlogic.errors import MissingExtraError, OptionError
from crowdlogic.extensions.networks.export import make_manifest, rule_decoding
from crowdlogic.learning.saved_run import Run

OPSET = 17
"""Version of the ONNX operator set, supported by onnxruntime since 2022."""
MAX_ARRAY_SIZE = 2**28
"""Maximum size of an array in a model, since ONNX files are limited to 2 GB."""
OUTPUT = "scores"

Array = NDArray[Any]


class GraphBuilder:
    """Builder for the nodes, constants and inputs of a graph."""

    def __init__(self) -> None:
        self.helper = import_onnx().helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: list[Any] = []

    def input(self, name: str, kind: type[Any], shape: Sequence[str | int]) -> str:
        """Add an input; an axis with a name may have any size."""
        code = self.helper.np_dtype_to_tensor_dtype(np.dtype(kind))
        self.inputs.append(self.helper.make_tensor_value_info(name, code, list(shape)))
        return name

    def constant(self, name: str, values: Array) -> str:
        """Add a constant: floats in single precision, other numbers as 64-bit integers."""
        if values.size > MAX_ARRAY_SIZE:
            raise OptionError(
                f"{name} has {values.size:,} numbers, too many for an ONNX file. Use fewer words or classes."
            )
        narrow = values.astype(np.float32 if values.dtype.kind == "f" else np.int64)
        self.constants.append(import_onnx().numpy_helper.from_array(np.ascontiguousarray(narrow), name))
        return name

    def add(self, operator: str, inputs: Sequence[str], name: str, **attributes: Any) -> str:
        """Add a node with one output of the same name."""
        self.nodes.append(self.helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def finish(self, output: str, shape: Sequence[str | int]) -> Any:
        """Build and check the model."""
        onnx = import_onnx()
        self.add("Identity", [output], OUTPUT)
        result = self.helper.make_tensor_value_info(OUTPUT, onnx.TensorProto.FLOAT, list(shape))
        graph = self.helper.make_graph(self.nodes, "crowdlogic", self.inputs, [result], self.constants)
        model = self.helper.make_model(graph, opset_imports=[self.helper.make_opsetid("", OPSET)])
        model.ir_version = 8
        onnx.checker.check_model(model)
        return model


def import_onnx() -> Any:
    """Import the package onnx, an optional dependency."""
    try:
        import onnx
    except ModuleNotFoundError as problem:
        raise MissingExtraError(
            "An ONNX model needs the package onnx, which is not installed: pip install crowdlogic[export]"
        ) from problem
    return onnx


def hashed_graph(arrays: Arrays, weights: Array, bias: Array) -> Any:
    """Return the graph of scores from hashed columns: scale * sum of the columns' weights + bias."""
    width, n_classes = int(arrays[WIDTH]), len(bias)
    table = np.zeros((width + 1, n_classes))  # the last row, of zeros, is for padding
    column_weight = arrays[SCALE][:, None] if SCALE in arrays else 1.0
    table[np.asarray(arrays[COLUMNS])] = weights * column_weight
    graph = GraphBuilder()
    columns = graph.input("columns", np.int64, ["units", "columns_of_a_unit"])
    scale = graph.input("scale", np.float32, ["units"])
    rows = graph.add("Gather", [graph.constant("weights", table), columns], "rows")
    total = graph.add("ReduceSum", [rows, graph.constant("axis_1", np.array([1]))], "total", keepdims=0)
    column = graph.add("Unsqueeze", [scale, "axis_1"], "scale_column")
    scaled = graph.add("Mul", [total, column], "scaled")
    if SCALE in arrays:  # rows of weighted columns are divided by their norm
        squares = np.zeros((width + 1, 1))
        squares[np.asarray(arrays[COLUMNS]), 0] = np.square(arrays[SCALE] / ROW_NORM)
        sums = graph.add(
            "ReduceSum",
            [graph.add("Gather", [graph.constant("squares", squares), columns], "parts"), "axis_1"],
            "sums",
            keepdims=0,
        )
        roots = graph.add("Mul", [graph.add("Sqrt", [sums], "roots"), column], "norms")
        norm = graph.add("Max", [roots, graph.constant("least_norm", np.array(1e-12))], "norm")
        scaled = graph.add("Div", [scaled, norm], "normalised")
    return graph.finish(graph.add("Add", [scaled, graph.constant("bias", bias)], "logits"), ["units", n_classes])


def numbers_graph(weights: Array, bias: Array) -> Any:
    """Return the graph of scores from numeric features: features @ weights + bias."""
    graph = GraphBuilder()
    features = graph.input("features", np.float32, ["units", weights.shape[0]])
    product = graph.add("MatMul", [features, graph.constant("weights", weights)], "product")
    return graph.finish(graph.add("Add", [product, graph.constant("bias", bias)], "logits"), ["units", len(bias)])


def mlp_graph(arrays: Arrays) -> Any:
    """Return the graph of an MLP: a hidden layer on standardised features."""
    graph = GraphBuilder()
    centre, scale = np.asarray(arrays[FIXED + "centre"]), np.asarray(arrays[FIXED + "scale"])
    features = graph.input("features", np.float32, ["units", len(centre)])
    shifted = graph.add("Sub", [features, graph.constant("centre", centre)], "shifted")
    standard = graph.add("Div", [shifted, graph.constant("scale", scale)], "standard")
    hidden = graph.add("Relu", [_layer(graph, arrays, "hidden", standard)], "relu")
    return graph.finish(_layer(graph, arrays, "output", hidden), ["units", len(weight(arrays, "output.bias"))])


def kim_graph(arrays: Arrays, windows: Sequence[int], filters: int) -> Any:
    """Return the graph of [KIM14] figure 1: filters of several widths, max-pooling, a linear layer."""
    graph, padding = GraphBuilder(), max(windows) - 1
    words = graph.input("words", np.int64, ["texts", "positions"])
    lengths = graph.input("lengths", np.int64, ["texts"])
    vectors = graph.add("Gather", [graph.constant("vectors", word_vectors(arrays)), words], "embedded")
    channels = graph.add("Transpose", [vectors], "channels", perm=[0, 2, 1])  # [s, d, t]
    blocks = np.split(weight(arrays, "filters.weight"), np.cumsum([width * filters for width in windows])[:-1])
    graph.constant("axis_1", np.array([1]))
    pooled = []
    for width, block in zip(windows, blocks, strict=True):
        # The maximum of filters block[w, f, d] over the positions from 0 to length + 2 padding - width
        name, filters_of_width = f"width_{width}", block.reshape(width, filters, -1).transpose(1, 2, 0)  # [f, d, w]
        outputs = graph.add("Conv", [channels, graph.constant(f"{name}_filters", filters_of_width)], f"{name}_outputs")
        shape = graph.add("Shape", [outputs], f"{name}_shape")  # [s, f, t]
        size = graph.add("Gather", [shape, graph.constant(f"{name}_two", np.array(2))], f"{name}_size")
        zero, one = graph.constant(f"{name}_zero", np.array(0)), graph.constant(f"{name}_one", np.array(1))
        positions = graph.add("Range", [zero, size, one], f"{name}_positions")
        end = graph.constant(f"{name}_end", np.array(2 * padding - width))
        last = graph.add("Add", [lengths, end], f"{name}_last")
        column = graph.add("Unsqueeze", [last, "axis_1"], f"{name}_column")
        inside = graph.add("LessOrEqual", [positions, column], f"{name}_inside")
        mask = graph.add("Unsqueeze", [inside, "axis_1"], f"{name}_mask")  # [s, 1, t]
        lowest = graph.constant(f"{name}_lowest", np.array(-1e30))
        kept = graph.add("Where", [mask, outputs, lowest], f"{name}_kept")
        pooled.append(graph.add("ReduceMax", [kept], f"{name}_max", axes=[2], keepdims=0))
    together = graph.add("Concat", pooled, "pooled", axis=1)
    biased = graph.add("Add", [together, graph.constant("filters.bias", weight(arrays, "filters.bias"))], "biased")
    logits = _layer(graph, arrays, "output", graph.add("Relu", [biased], "relu"))
    return graph.finish(logits, ["texts", len(weight(arrays, "output.bias"))])


def tagger_graph(arrays: Arrays, width: int, *, shapes: bool, bidirectional: bool) -> Any:
    """Return the graph of a tagger: word (and shape) vectors, a convolution, a GRU and a linear layer."""
    graph = GraphBuilder()
    words = graph.input("words", np.int64, ["sentences", "positions"])
    lengths = graph.input("lengths", np.int64, ["sentences"])
    vectors = graph.add("Gather", [graph.constant("vectors", word_vectors(arrays)), words], "embedded")
    if shapes:
        codes = graph.input("shapes", np.int64, ["sentences", "positions"])
        table = graph.constant("shape_vectors", weight(arrays, "shapes.weight"))
        vectors = graph.add("Concat", [vectors, graph.add("Gather", [table, codes], "shaped")], "both", axis=2)
    channels = graph.add("Transpose", [vectors], "channels", perm=[0, 2, 1])
    bias = weight(arrays, "filters.bias")
    kernel = weight(arrays, "filters.weight").reshape(width, len(bias), -1).transpose(1, 2, 0)  # [f, d, w]
    inputs = [channels, graph.constant("filters", kernel), graph.constant("filters.bias", bias)]
    outputs = graph.add("Conv", inputs, "convolved", pads=[width // 2, width // 2])
    relu = graph.add("Relu", [outputs], "relu")
    in_time = graph.add("Transpose", [relu], "in_time", perm=[2, 0, 1])  # [t, s, f]

    # hidden[s, t, d] of the GRU, whose gates have the order z, r, h in ONNX, and r, z, h in torch
    def reorder(name: str) -> Array:
        reset, update, new = np.split(weight(arrays, f"gru.{name}"), 3)
        return np.concatenate([update, reset, new])

    ends = ("_l0", "_l0_reverse") if bidirectional else ("_l0",)
    w, r = (np.stack([reorder(f"{name}{end}") for end in ends]) for name in ("weight_ih", "weight_hh"))
    b = np.stack([np.concatenate([reorder(f"bias_ih{end}"), reorder(f"bias_hh{end}")]) for end in ends])
    named = [graph.constant("gru_w", w), graph.constant("gru_r", r), graph.constant("gru_b", b)]
    cast = graph.add("Cast", [lengths], "lengths_32", to=6)
    least = graph.add("Cast", [graph.constant("least_length", np.array(1))], "least_length_32", to=6)
    direction = "bidirectional" if bidirectional else "forward"
    states = graph.add(
        "GRU",
        [in_time, *named, graph.add("Max", [cast, least], "steps")],
        "gru",
        hidden_size=r.shape[2],
        linear_before_reset=1,
        direction=direction,
    )  # [t, direction, s, d]
    first = graph.add("Transpose", [states], "by_sentence", perm=[2, 0, 1, 3])
    hidden = graph.add("Reshape", [first, graph.constant("joined", np.array([0, 0, -1]))], "hidden")
    return graph.finish(
        _layer(graph, arrays, "output", hidden), ["sentences", "positions", len(weight(arrays, "output.bias"))]
    )


def _layer(graph: GraphBuilder, arrays: Arrays, name: str, inputs: str) -> str:
    """Add a linear layer."""
    product = graph.add(
        "MatMul", [inputs, graph.constant(f"{name}.weight", weight(arrays, f"{name}.weight").T)], f"{name}.product"
    )
    return graph.add("Add", [product, graph.constant(f"{name}.bias", weight(arrays, f"{name}.bias"))], f"{name}.sum")


def weight(arrays: Arrays, name: str) -> Array:
    """Return a tensor of a network, trained or fixed."""
    found = arrays.get(MODEL + name, arrays.get(FIXED + MODEL + name))
    if found is None:
        raise OptionError(f"This classifier has no {name}, so its layers differ from those of a plain network.")
    return np.asarray(found)


def word_vectors(arrays: Arrays) -> Array:
    """Return vectors[v, d] of all words: those of the training corpus, then the others."""
    return np.concatenate([weight(arrays, "embedding.own"), weight(arrays, "embedding.rest")])


WORDS = "fixed.words"
WORD_FILE = "words.json"

Part = tuple[Any, dict[str, Any], dict[str, Any], list[str]]
"""The graph, the preprocessing of items, the decoding of scores, and the words of a network."""


def write_onnx(run: Run, folder: Path) -> list[str]:
    """Write the files of a run into an empty folder and return notices to the user."""
    name = run.record.config["method"]["classifier"]["name"]
    if name not in PARTS:
        raise OptionError(
            f"{run.folder}: a {name} classifier cannot be exported to ONNX; supported are {', '.join(PARTS)}. "
            f"Export a transformer to Hugging Face's format: --to hf."
        )
    if isinstance(run.classifier, ChainClassifier):
        raise OptionError(
            f"{run.folder}: the {name} classifier predicts chains of tags (chain = true), which the ONNX export does "
            f"not support. Train without it, or predict with crowdlogic."
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
    return ["The rules depend on words, so only the classifier is exported, as in predict --student."]


def _over_features(run: Run, arrays: Arrays) -> Part:
    """Export a linear or CRF classifier over hashed words or numeric features."""
    weights, decoding = arrays[MODEL + "weights"], {}
    if MODEL + "bias" in arrays:
        bias = arrays[MODEL + "bias"]
    else:
        start = arrays[MODEL + "start"]
        bias = 0.0 * start
        decoding = {"chain": {"start": start.tolist(), "transitions": arrays[MODEL + "transitions"].tolist()}}
    options: Any = run.classifier.options  # type: ignore[attr-defined]
    if int(arrays[WIDTH]) != 1 << options.hash_bits or len(arrays[COLUMNS]) > int(arrays[WIDTH]):
        return numbers_graph(weights, bias), {"kind": "numbers"}, decoding, []
    hashed = {"kind": "hashed", "max_ngram": options.max_ngram, "hash_bits": options.hash_bits}
    return hashed_graph(arrays, weights, bias), hashed, decoding, []


def _over_words(run: Run, arrays: Arrays) -> Part:
    """Export a Kim-CNN or CNN-GRU classifier. In its input, 0 is padding, 1 an unknown word, then come all words."""
    options = run.record.config["method"]["classifier"]
    padding, tokenizer, shapes = 0, None, False
    if options["name"] == "kim-cnn":
        windows, tokenizer = tuple(options["windows"]), options["tokenizer"]
        padding = max(windows) - 1
        graph = kim_graph(arrays, windows, int(options["filters"]))
    else:
        weight(arrays, "output.weight")
        shapes = bool(options["shape_size"])
        graph = tagger_graph(arrays, int(options["width"]), shapes=shapes, bidirectional=bool(options["bidirectional"]))
    words = {
        "kind": "words",
        "words": WORD_FILE,
        "tokenizer": tokenizer,
        "case_sensitive": bool(options["case_sensitive"]),
        "padding": padding,
        "shapes": shapes,
    }
    return graph, words, {}, decode_json(arrays[WORDS])


def _mlp(run: Run, arrays: Arrays) -> Part:  # noqa: ARG001 (the arrays suffice)
    return mlp_graph(arrays), {"kind": "numbers"}, {}, []


PARTS = {
    "linear": _over_features,
    "crf": _over_features,
    "kim-cnn": _over_words,
    "cnn-gru": _over_words,
    "mlp": _mlp,
}
"""Supported classifiers by name, with the functions that export them."""
