"""A Hugging Face transformer with a linear output layer, fine-tuned from a local folder: for documents and for tokens.

Where no folder is named, it is the encoder that a package carries (`packaged_encoders`).

A document is classified from the hidden state of its first position (or the mean over all positions), a token from that
of its first piece. All that is needed to predict is saved with the classifier, so the folder may be removed later.

The folder is only read: weights in safetensors, nothing is downloaded, and no code that comes with a model is run.

Axes: s sequence, t piece, u unit, d dimension, k class.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from crowdlogic.classifiers.crowd_heads import restore_classifier
from crowdlogic.classifiers.network import Inputs, word_inputs
from crowdlogic.classifiers.neural import NeuralClassifier, find_device, load_fixed_tensors, torch_seed
from crowdlogic.classifiers.packaged_encoders import find_folder
from crowdlogic.classifiers.protocol import FIXED, MODEL, Arrays, derive_seed, encode_json, require_content
from crowdlogic.classifiers.saved_arrays import saved_json, saved_number
from crowdlogic.classifiers.training import Training
from crowdlogic.classifiers.transformer_config import check_options, known_options, offline, with_attention
from crowdlogic.classifiers.transformer_network import (
    FIRST,
    FLOAT,
    POOLINGS,
    PRECISIONS,
    NetworkOptions,
    TransformerNetwork,
    cut_layers,
)
from crowdlogic.classifiers.word_pieces import WordPieces
from crowdlogic.classifiers.words import corpus_tokens
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.errors import FormatError, MissingExtraError, OptionError

DEFAULT_TRAINING = Training(optimiser="adamw", learning_rate=5e-5, batch_size=16, clip_norm=1.0, weight_decay=0.01)
CONFIG, TOKENIZER, LENGTH = FIXED + "config", FIXED + "tokenizer", FIXED + "length"
UNBUILDABLE = (
    TypeError, ValueError, KeyError, AttributeError, RuntimeError, ZeroDivisionError, AssertionError, IndexError,
)  # fmt: skip
"""What torch and transformers raise on a configuration that no network can have."""
NO_LIMIT = 100_000
"""No limit of the length; tokenizers without one report an absurdly large number."""


@dataclass(frozen=True)
class Transformer:
    """A pretrained transformer.

    Attributes:
        folder: Where `save_pretrained` wrote the model (config.json, model.safetensors) and its tokenizer; or the name
            of an encoder that is installed as a package. Empty for the default one of these.
        layers: Number of layers that are used, from the embeddings on; 0 for all.
        pooling: The representation of a document: the `first` position, the `mean` of all, or a `convolution` over them
            (the maximum of each filter, as in Kim-CNN).
        windows: With a convolution: widths of the filters.
        filters: With a convolution: number of filters of each width.
        max_length: Maximum number of word pieces in a sequence; less where the model's own limit is less. A longer
            document is truncated; a longer sentence is split, so that every token is predicted.
        dropout: Dropout rate before the output layer; the transformer has its own within.
        fine_tune: Whether the transformer itself is trained, or the output layer only.
        frozen_layers: Number of layers, from the embeddings on, that are not trained: their hidden states are computed
            once, so that an epoch costs only what the other layers cost. 0 trains all, the embeddings, too.
        precision: float32; bfloat16, faster where the processor has instructions for it; or auto, bfloat16 there.
        training: The optimiser and its hyper-parameters.
    """

    folder: str | Path = ""
    layers: int = 0
    pooling: str = FIRST
    windows: tuple[int, ...] = (3, 4, 5)
    filters: int = 100
    max_length: int = 256
    dropout: float = 0.1
    fine_tune: bool = True
    frozen_layers: int = 0
    precision: str = FLOAT
    training: Training = DEFAULT_TRAINING

    name = "transformer"

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", str(self.folder))
        if self.pooling not in POOLINGS:
            raise OptionError(f"{self.name}: pooling: {self.pooling!r} is none of {', '.join(POOLINGS)}.")
        if self.precision not in PRECISIONS:
            raise OptionError(f"{self.name}: precision: {self.precision!r} is none of {', '.join(PRECISIONS)}.")
        if min(self.frozen_layers, self.layers) < 0:
            raise OptionError(f"{self.name}: layers and frozen_layers must be 0 or more.")
        if not self.windows or min(*self.windows, self.filters) < 1:
            raise OptionError(f"{self.name}: windows and filters must be 1 or more.")
        if self.max_length < 3 or not 0 <= self.dropout < 1:
            raise OptionError(f"{self.name}: max_length must be 3 or more, and dropout lie from 0 to below 1.")

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> NeuralClassifier:
        """The model of the folder with a new output layer."""
        if not corpus.is_sequential:
            require_content(corpus, "texts", self.name)
        with offline(), torch_seed(derive_seed(seed, "weights"), find_device("cpu")):
            encoder, tokenizer = read_model(str(self.folder))
            cut_layers(encoder, self.layers)
            length = min(self.max_length, _length_limit(encoder.config, tokenizer))
            pieces = WordPieces(tokenizer.backend_tokenizer.to_str(), length)
            network = TransformerNetwork(encoder, len(classes), self.network_options)
        return self._make_classifier(network, pieces, seed)

    def load(self, arrays: Arrays, classes: Classes) -> NeuralClassifier:
        """A transformer with a saved state; the folder is not needed."""
        absent = [name for name in (CONFIG, TOKENIZER, LENGTH) if name not in arrays]
        if absent:
            raise FormatError(f"These arrays are not of a transformer: {absent[0]} is missing.")
        auto = import_transformers()
        options = saved_json(arrays, CONFIG, dict)
        length = saved_number(arrays, LENGTH, least=1, most=NO_LIMIT)
        with offline(), torch_seed(0, find_device("cpu")):
            config = _make_config(check_options(options, auto), auto)
            network = TransformerNetwork(_make_encoder(config, arrays, auto), len(classes), self.network_options)
            pieces = WordPieces(saved_json(arrays, TOKENIZER, str), length)
        load_fixed_tensors(network, arrays)
        _check_vocabulary(pieces, network)
        return restore_classifier(self._make_classifier(network, pieces, seed=0), arrays)

    @property
    def network_options(self) -> NetworkOptions:
        """The options of the network."""
        return NetworkOptions(
            pooling=self.pooling,
            windows=self.windows,
            filters=self.filters,
            dropout=self.dropout,
            fine_tune=self.fine_tune,
            frozen_layers=self.frozen_layers,
            precision=self.precision,
        )

    def _make_classifier(self, network: TransformerNetwork, pieces: WordPieces, seed: int) -> NeuralClassifier:
        config = known_options(network.config, import_transformers())
        fixed = {
            CONFIG: encode_json(config),
            TOKENIZER: encode_json(pieces.description),
            LENGTH: np.array(pieces.length),
        }
        encode = partial(_encode_corpus, self.name, pieces, network)
        return NeuralClassifier(network, encode, self.training, seed=seed, fixed=fixed)


def _make_config(options: dict[str, Any], auto: Any) -> Any:
    """The configuration of saved options, which are checked."""
    try:
        with silence(auto):
            return auto.AutoConfig.for_model(**options)
    except (TypeError, ValueError, KeyError, AttributeError) as problem:
        raise FormatError(f"These arrays are not of a transformer: {problem!s:.200}") from problem


def _make_encoder(config: Any, arrays: Arrays, auto: Any) -> Any:
    """The encoder, if it has as many weights as were saved: it is first made without memory for them."""
    saved = sum(array.size for name, array in arrays.items() if name.removeprefix(FIXED).startswith(MODEL))

    def make(attention: str) -> Any:
        return auto.AutoModel.from_config(config, trust_remote_code=False, attn_implementation=attention)

    try:
        with silence(auto), torch.device("meta"):
            drawn = with_attention(make)
        if sum(tensor.numel() for tensor in drawn.parameters()) > saved:
            raise FormatError("These are the weights of another transformer: it has more than were saved.")
        return with_attention(make)
    except UNBUILDABLE as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(f"These arrays are not of a transformer: {problem!s:.200}") from problem


def _check_vocabulary(pieces: WordPieces, network: TransformerNetwork) -> None:
    """Refuse a tokenizer whose pieces the encoder has no vectors for, and a length that it has no positions for."""
    config = network.encoder.config
    if pieces.size > config.vocab_size or pieces.length > getattr(config, "max_position_embeddings", NO_LIMIT):
        raise FormatError("These arrays are not of a transformer: its tokenizer does not fit its weights.")


def _encode_corpus(name: str, pieces: WordPieces, network: TransformerNetwork, corpus: Corpus) -> Inputs:
    if corpus.is_sequential:
        rows, offsets, units = pieces.encode_tokens(corpus_tokens(corpus, name))
        return network.with_states(word_inputs(offsets, rows[None, :], units))
    rows, offsets = pieces.encode_texts(require_content(corpus, "texts", name))
    return network.with_states(word_inputs(offsets, rows[None, :]))


def import_transformers() -> Any:
    """The package transformers, which an extra of crowdlogic installs."""
    try:
        import transformers
    except ModuleNotFoundError as problem:
        raise MissingExtraError(
            f"The transformer needs the package {problem.name}, which is not installed: pip install crowdlogic[hf]"
        ) from problem
    return transformers


def read_model(folder: str) -> tuple[Any, Any]:
    """The transformer and the tokenizer of a folder, or of an encoder that is known by name."""
    auto = import_transformers()
    folder = find_folder(folder)
    here = {"local_files_only": True, "trust_remote_code": False}
    try:
        with silence(auto):
            known_options(auto.AutoConfig.from_pretrained(folder, **here).to_dict(), auto)
            options = {"use_safetensors": True, "dtype": torch.float32, **here}
            encoder = with_attention(
                lambda how: auto.AutoModel.from_pretrained(folder, attn_implementation=how, **options)
            )
            tokenizer = auto.AutoTokenizer.from_pretrained(folder, **here)
    except (OSError, ValueError) as problem:
        raise FormatError(f"{folder}: no transformer can be read from it ({problem})") from problem
    if not getattr(tokenizer, "backend_tokenizer", None):
        raise FormatError(f"{folder}: its tokenizer has no tokenizer.json. Save the model with its fast tokenizer.")
    return encoder, tokenizer


@contextmanager
def silence(auto: Any) -> Iterator[None]:
    """Switch off progress bars and messages of the package within the context."""
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


def _length_limit(config: Any, tokenizer: Any) -> int:
    """Maximum number of pieces in a sequence of the model."""
    positions = getattr(config, "max_position_embeddings", NO_LIMIT)
    padding = getattr(config, "pad_token_id", None) or 0
    # RoBERTa and its relatives number positions from pad_token_id + 1.
    usable = positions - (padding + 1 if 0 < padding < 10 else 0)
    return int(min(usable, tokenizer.model_max_length, NO_LIMIT))
