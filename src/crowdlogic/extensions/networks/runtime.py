"""Predict with an exported model. Requires only this file, numpy and onnxruntime.

    python predict.py FOLDER < texts.txt          # one text per line; for a tagger, tokens separated by spaces

    from predict import Predictor
    model = Predictor("FOLDER")
    model.predict(["a text", "another"])            # or lists of tokens, or rows of numbers

`crowdlogic export` writes a copy of this file next to the model. manifest.json describes the input of the model. This
file implements all steps: tokens, features or word numbers, the ONNX model, and for tags the decoding.

Axes: i unit (a document or a token), k class, s sentence, t position.
"""

from __future__ import annotations

import json
import re
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np

CLITICS = re.compile(r"('s|'ve|n't|'re|'d|'ll)")
OTHER = re.compile(r"[^a-z0-9(),!?'`]")
MARKS = re.compile(r"([,!()?])")
SHAPES = ("padding", "lower", "Title", "UPPER", "mIxed", "digits", "d1git", "marks", "other")
BEYOND = "\x00"
REACH = 2


def split_kim(text: str) -> list[str]:
    """Split a text in lower case as Kim does: separate clitics and some punctuation, drop other characters."""
    return MARKS.sub(r" \1 ", CLITICS.sub(r" \1", OTHER.sub(" ", text.lower()))).split()


def split_plain(text: str) -> list[str]:
    """Split a text into words and punctuation marks in lower case."""
    return re.findall(r"\w+|[^\w\s]", text.lower())


SPLITTERS = {"kim": split_kim, "plain": split_plain}


def word_shape(word: str) -> int:
    """Return the shape of a word as an index into SHAPES."""
    if word.isalpha():
        cases = ((word.islower(), 1), (word.isupper() and len(word) > 1, 3), (word.istitle(), 2), (True, 4))
        return next(code for holds, code in cases if holds)
    if any(c.isdigit() for c in word):
        return 6 if any(c.isalpha() for c in word) else 5
    return 8 if any(c.isalnum() for c in word) else 7


def hash_column(feature: str, bits: int) -> int:
    """Return the column of a feature: the lowest bits of its CRC-32."""
    return zlib.crc32(feature.encode(errors="surrogatepass")) & ((1 << bits) - 1)


def ngram_columns(text: str, max_ngram: int, bits: int) -> list[int]:
    """Return the columns of a text, one per word n-gram."""
    words = split_plain(text)
    ngrams = (" ".join(words[k : k + n]) for n in range(1, max_ngram + 1) for k in range(len(words) - n + 1))
    return sorted({hash_column(ngram, bits) for ngram in ngrams})


def token_columns(tokens: list[str], at: int, bits: int) -> list[int]:
    """Return the columns of a token: the word, its shape, prefix and suffix, and its neighbours."""
    low = tokens[at].lower()
    found = [f"w={low}", f"as={tokens[at]}", f"shape={SHAPES[word_shape(tokens[at])]}"]
    found += [f"begins={low[:3]}", f"ends={low[-3:]}"]
    for step in range(-REACH, REACH + 1):
        if step:
            inside = 0 <= at + step < len(tokens)
            word = tokens[at + step] if inside else BEYOND
            found += [f"{step}={word.lower()}", f"{step}shape={SHAPES[word_shape(word)]}"]
    return sorted({hash_column(feature, bits) for feature in found})


def softmax(scores: Any) -> Any:
    """Return the probabilities of scores[i, k]."""
    weight = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weight / weight.sum(axis=1, keepdims=True)


def log_sum(values: Any, axis: int) -> Any:
    """Return log-sum-exp, also for values of minus infinity."""
    peak = np.max(values, axis=axis, keepdims=True)
    peak = np.where(np.isfinite(peak), peak, 0.0)
    with np.errstate(divide="ignore"):
        return np.log(np.exp(values - peak).sum(axis=axis)) + np.squeeze(peak, axis=axis)


def chain_marginals(unary: Any, start: Any, transitions: Any) -> Any:
    """Return the marginals p[t, k] of a sentence from unary[t, k], start[k] and transitions[k, k']."""
    size = len(unary)
    forward, backward = np.empty_like(unary), np.zeros_like(unary)
    forward[0] = unary[0] + start
    for t in range(1, size):
        forward[t] = unary[t] + log_sum(forward[t - 1][:, None] + transitions, axis=0)
    for t in range(size - 2, -1, -1):
        backward[t] = log_sum(transitions + (unary[t + 1] + backward[t + 1])[None, :], axis=1)
    return softmax(forward + backward)


def numbers(values: Any) -> Any:
    """Convert an array of the manifest, in which null means minus infinity."""
    return np.array(
        [[-np.inf if v is None else v for v in row] for row in np.atleast_2d(np.array(values, dtype=object))]
    )


class Predictor:
    """An exported model."""

    def __init__(self, folder: str | Path) -> None:
        import onnxruntime

        self.folder = Path(folder)
        self.manifest = json.loads((self.folder / "manifest.json").read_text(encoding="utf-8"))
        self.classes = self.manifest["classes"]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        path = str(self.folder / self.manifest["model"])
        self.session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        prepare = self.manifest["preprocessing"]
        self.rows: dict[str, int] = {}
        if prepare["kind"] == "words":
            words = json.loads((self.folder / prepare["words"]).read_text(encoding="utf-8"))
            self.rows = {word: row for row, word in enumerate(words, start=2)}

    def predict(self, items: Any) -> list[Any]:
        """Return the class of each item; for a tagger, the tags of each sentence."""
        if self.manifest["task"] == "tagging":
            return [[self.classes[k] for k in p.argmax(axis=1)] for p in self.predict_proba(items)]
        return [self.classes[k] for k in self.predict_proba(items).argmax(axis=1)]

    def predict_proba(self, items: Any) -> Any:
        """Return p[i, k] of documents; for a tagger, a list with p[t, k] of each sentence."""
        items = list(items)
        tagging = self.manifest["task"] == "tagging"
        if not items:
            return [] if tagging else np.empty((0, len(self.classes)))
        scores = self.session.run(None, self.inputs(items))[0].astype(np.float64)
        if not tagging:
            return softmax(scores)
        if scores.ndim == 3:
            parts = [scores[s, : len(tokens)] for s, tokens in enumerate(items)]
        else:
            parts = np.split(scores, np.cumsum([len(tokens) for tokens in items])[:-1])
        return [self.decode(part) for part in parts]

    def decode(self, scores: Any) -> Any:
        """Return p[t, k] of a sentence, decoded with the model's chain, if any, and the rules about tags."""
        if not len(scores):
            return scores
        chain, rules = (self.manifest["decoding"].get(name) for name in ("chain", "rules"))
        p = softmax(scores)
        if chain is not None:
            p = chain_marginals(scores, numbers(chain["start"])[0], numbers(chain["transitions"]))
        if rules is None:
            return p
        with np.errstate(divide="ignore"):
            unary = np.log(p)
        places = ["middle"] * len(unary)
        places[0], places[-1] = "first", "last"
        if len(unary) == 1:
            places = ["only"]
        unary = unary + np.concatenate([numbers(rules[place]) for place in places])
        return chain_marginals(unary, numbers(rules["start"])[0], numbers(rules["transitions"]))

    def inputs(self, items: list[Any]) -> dict[str, Any]:
        """Return the input arrays of the ONNX model."""
        prepare = self.manifest["preprocessing"]
        if prepare["kind"] == "numbers":
            return {"features": np.asarray(items, dtype=np.float32)}
        if prepare["kind"] == "words":
            return self.word_inputs(items, prepare)
        if self.manifest["task"] == "tagging":
            rows = [token_columns(tokens, at, prepare["hash_bits"]) for tokens in items for at in range(len(tokens))]
        else:
            rows = [ngram_columns(text, prepare["max_ngram"], prepare["hash_bits"]) for text in items]
        width = max([len(row) for row in rows] + [1])
        columns = np.full((len(rows), width), 1 << prepare["hash_bits"], dtype=np.int64)
        for i, row in enumerate(rows):
            columns[i, : len(row)] = row
        scale = np.array([1.0 / max(len(row), 1) ** 0.5 for row in rows], dtype=np.float32)
        return {"columns": columns, "scale": scale}

    def word_inputs(self, items: list[Any], prepare: dict[str, Any]) -> dict[str, Any]:
        """Return padded word numbers with the lengths of the texts and, if needed, the shapes of the words."""
        split: Any = SPLITTERS.get(prepare["tokenizer"], list)
        lists = [split(item) for item in items]
        padding = prepare["padding"]
        longest = max([1, *(len(words) for words in lists)])
        words = np.zeros((len(lists), longest + 2 * padding), dtype=np.int64)
        shapes = np.zeros_like(words)
        for s, tokens in enumerate(lists):
            words[s, padding : padding + len(tokens)] = [self.row(word, prepare) for word in tokens]
            shapes[s, padding : padding + len(tokens)] = [word_shape(word) for word in tokens]
        found = {"words": words, "lengths": np.array([len(tokens) for tokens in lists], dtype=np.int64)}
        return found | ({"shapes": shapes} if prepare["shapes"] else {})

    def row(self, word: str, prepare: dict[str, Any]) -> int:
        """Return the number of a word, as written or in lower case; 1 for unknown words."""
        found = self.rows.get(word)
        if found is None and not prepare["case_sensitive"]:
            found = self.rows.get(word.lower())
        return 1 if found is None else found


def main() -> None:
    """Tag or classify the lines of standard input."""
    model = Predictor(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent)
    lines = [line.rstrip("\n") for line in sys.stdin]
    tagging = model.manifest["task"] == "tagging"
    for found in model.predict([line.split() for line in lines] if tagging else lines):
        sys.stdout.write(f"{' '.join(map(str, found)) if tagging else found}\n")


if __name__ == "__main__":
    main()
