"""A Hugging Face transformer from a folder, with a linear layer on top: for documents and for tokens.

A document is judged by the transformer's answer at its first place (or the mean over all places), a token by that at
its first piece. Everything that is needed to predict is kept with the classifier, so the folder may go.

The folder is only read: weights in safetensors, nothing is fetched, and no code that comes with a model is run.

Axes: s sequence, t piece, u unit, d dimension, k class.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from crowdlogic.classifiers.crowd_heads import restore_classifier
from crowdlogic.classifiers.network import Batch, Inputs, Network, word_inputs
from crowdlogic.classifiers.neural import NeuralClassifier, find_device, load_fixed_tensors, torch_seed
from crowdlogic.classifiers.protocol import FIXED, Arrays, decode_json, derive_seed, encode_json, require_content
from crowdlogic.classifiers.training import Training
from crowdlogic.classifiers.word_pieces import WordPieces
from crowdlogic.classifiers.words import corpus_tokens
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.errors import FormatError, MissingDataError, MissingExtraError, OptionError

USUAL = Training(optimiser="adamw", learning_rate=5e-5, batch_size=16, clip_norm=1.0, weight_decay=0.01)
CONFIG, TOKENIZER, LENGTH = FIXED + "config", FIXED + "tokenizer", FIXED + "length"
POOLS = ("first", "mean")
ENDLESS = 100_000
"""A tokenizer that knows no limit says something absurdly large."""


@dataclass(frozen=True)
class Transformer:
    """The options of a transformer.

    Attributes:
        folder: Where `save_pretrained` wrote the model (config.json, model.safetensors) and its tokenizer.
        pooling: What stands for a document: the `first` place, or the `mean` of all.
        max_length: The most pieces of words that are read at once; fewer where the model can only read fewer. A longer
            document is cut off there; a longer sentence is read in parts, so that every token has its answer.
        dropout: The share of the transformer's answers left out in training; it may leave out more within.
        fine_tune: Whether the transformer itself is trained, or only the layer on top.
        training: The optimiser and its options.
    """

    folder: str | Path = ""
    pooling: str = "first"
    max_length: int = 256
    dropout: float = 0.1
    fine_tune: bool = True
    training: Training = USUAL

    name = "transformer"

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", str(self.folder))
        if self.pooling not in POOLS:
            raise OptionError(f"{self.name}: pooling: {self.pooling!r} is none of {', '.join(POOLS)}.")
        if self.max_length < 3 or not 0 <= self.dropout < 1:
            raise OptionError(f"{self.name}: max_length must be 3 or more, and dropout lie from 0 to below 1.")

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> NeuralClassifier:
        """The model of the folder with a new layer on top."""
        if not corpus.is_sequential:
            require_content(corpus, "texts", self.name)
        with torch_seed(derive_seed(seed, "weights"), find_device("cpu")):
            encoder, tokenizer = read_model(str(self.folder))
            length = min(self.max_length, _limit(encoder.config, tokenizer))
            pieces = WordPieces(tokenizer.backend_tokenizer.to_str(), length)
            network = TransformerNetwork(encoder, len(classes), self)
        return self._classifier(network, pieces, seed)

    def load(self, arrays: Arrays, classes: Classes) -> NeuralClassifier:
        """The classifier that these arrays were taken from; the folder is not needed."""
        absent = [name for name in (CONFIG, TOKENIZER, LENGTH) if name not in arrays]
        if absent:
            raise FormatError(f"These arrays are not of a transformer: {absent[0]} is missing.")
        auto = hugging_face()
        config = auto.AutoConfig.for_model(**decode_json(arrays[CONFIG]))
        with torch_seed(0, find_device("cpu")):
            encoder = auto.AutoModel.from_config(config, trust_remote_code=False)
            network = TransformerNetwork(encoder, len(classes), self)
        load_fixed_tensors(network, arrays)
        made = self._classifier(network, WordPieces(decode_json(arrays[TOKENIZER]), int(arrays[LENGTH])), seed=0)
        return restore_classifier(made, arrays)

    def _classifier(self, network: TransformerNetwork, pieces: WordPieces, seed: int) -> NeuralClassifier:
        described = {name: value for name, value in network.config.items() if not name.startswith("_")}
        fixed = {
            CONFIG: encode_json(described),
            TOKENIZER: encode_json(pieces.description),
            LENGTH: np.array(pieces.length),
        }
        return NeuralClassifier(network, partial(_read, self.name, pieces), self.training, seed=seed, fixed=fixed)


def _read(name: str, pieces: WordPieces, corpus: Corpus) -> Inputs:
    if corpus.is_sequential:
        rows, offsets, units = pieces.encode_tokens(corpus_tokens(corpus, name))
        return word_inputs(offsets, rows[None, :], units)
    rows, offsets = pieces.encode_texts(require_content(corpus, "texts", name))
    return word_inputs(offsets, rows[None, :])


class TransformerNetwork(Network):
    """A transformer and a linear layer."""

    def __init__(self, encoder: Any, n_classes: int, options: Transformer) -> None:
        super().__init__()
        self.encoder, self.n_classes = encoder, n_classes
        self.pooling, self.fine_tune = options.pooling, options.fine_tune
        self.encoder.requires_grad_(options.fine_tune)
        self.dropout = nn.Dropout(options.dropout)
        self.output = nn.Linear(encoder.config.hidden_size, n_classes)

    @property
    def config(self) -> dict[str, Any]:
        """How the transformer is made, as plain values."""
        found: dict[str, Any] = json.loads(self.encoder.config.to_json_string(use_diff=False))
        return found

    def train(self, mode: bool = True) -> TransformerNetwork:
        """A transformer that is not trained answers in training as it always does."""
        super().train(mode)
        self.encoder.train(mode and self.fine_tune)
        return self

    def logits(self, batch: Batch, precomputed: Tensor | None) -> Tensor:  # noqa: ARG002 (no piece is precomputed by itself)
        """logits[u, k]."""
        rows = batch.words[0][batch.text].masked_fill(~batch.real, self.encoder.config.pad_token_id or 0)
        said: Tensor = self.encoder(input_ids=rows, attention_mask=batch.real.long()).last_hidden_state
        logits: Tensor = self.output(self.dropout(self.pooled(said, batch)))
        return logits

    def pooled(self, said: Tensor, batch: Batch) -> Tensor:
        """said[u, d] of said[s, t, d]: at the first piece of each token, or what stands for a document."""
        if batch.places is not None:
            return batch.at_units(said)
        if self.pooling == "first":
            return said[:, 0]
        real = batch.real[:, :, None]
        return (said * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)


def hugging_face() -> Any:
    """The package transformers."""
    try:
        import transformers
    except ModuleNotFoundError as problem:
        raise MissingExtraError(
            f"The transformer needs the package {problem.name}, which is not installed: pip install crowdlogic[hf]"
        ) from problem
    return transformers


def read_model(folder: str) -> tuple[Any, Any]:
    """The transformer of a folder and its tokenizer."""
    if not Path(folder).is_dir():
        raise MissingDataError(f"{folder}: no such folder. Give one that holds a model (save_pretrained writes it).")
    auto = hugging_face()
    here = {"local_files_only": True, "trust_remote_code": False}
    try:
        with quiet(auto):
            encoder = auto.AutoModel.from_pretrained(folder, use_safetensors=True, dtype=torch.float32, **here)
            tokenizer = auto.AutoTokenizer.from_pretrained(folder, **here)
    except (OSError, ValueError) as problem:
        raise FormatError(f"{folder}: no transformer can be read from it ({problem})") from problem
    if not getattr(tokenizer, "backend_tokenizer", None):
        raise FormatError(f"{folder}: its tokenizer has no tokenizer.json. Save the model with its fast tokenizer.")
    return encoder, tokenizer


@contextmanager
def quiet(auto: Any) -> Iterator[None]:
    """Within it the package says nothing: no progress bars, no advice on weights that we do not use."""
    logging = auto.utils.logging
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def _limit(config: Any, tokenizer: Any) -> int:
    """How many pieces the model can read at once."""
    places = getattr(config, "max_position_embeddings", ENDLESS)
    padding = getattr(config, "pad_token_id", None) or 0
    # RoBERTa and its kin count places from behind the padding's number.
    usable = places - (padding + 1 if 0 < padding < 10 else 0)
    return int(min(usable, tokenizer.model_max_length, ENDLESS))
