"""BiLSTM-CRF tagger over words, their characters and shapes.

[MH16] Ma and Hovy, "End-to-end sequence labeling via bi-directional LSTM-CNNs-CRF", 2016: a convolution over the
characters of a word, max-pooled and concatenated with the word vector, a BiLSTM and a CRF. In addition, there are an
embedding of the word's shape, and word dropout, so that the model also learns from context and characters.

Characters are encoded by their code points, so no alphabet is saved: each of the first 256 has its own embedding, and
all others share some embeddings.

Axes: s sentence, t token, v distinct word, c channel (row, shape, characters), d dimension, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from crowdlogic.classifiers.features import TokenStream, corpus_tokens
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import OptionError
from crowdlogic.extensions.networks.chain_networks import TagTransitions
from crowdlogic.extensions.networks.network import (
    Batch,
    ByteDropout,
    Inputs,
    Network,
    Training,
    WordEmbedding,
)
from crowdlogic.extensions.networks.word_network import (
    N_SHAPES,
    WordArchitecture,
    WordIndex,
    shape_codes,
)
from crowdlogic.numerics.arrays import Ints

DEFAULT = Training(optimiser="adam", learning_rate=2e-3, batch_size=32, clip_norm=5.0)

OWN_CODES, SHARED_CODES = 256, 64
"""Number of code points with their own embedding, and number of embeddings shared by all others."""
N_CHARACTERS = 1 + OWN_CODES + SHARED_CODES

ROW, SHAPE, CHARACTERS = 0, 1, 2
"""Channels of a word: its row, its shape, and then its characters."""


@dataclass(frozen=True)
class BiLSTMCRF(WordArchitecture):
    """BiLSTM-CRF tagger.

    Attributes:
        vectors: Pretrained word vectors; without them, words are initialised randomly.
        hidden_size: Hidden size of each direction of the LSTM.
        shape_size: Size of the embedding of word shapes; 0 for none.
        character_size: Size of the embedding of a character.
        character_filters: Number of filters over characters; 0 for none.
        most_characters: Maximum number of characters of a word, taken from its beginning and end.
        dropout: Dropout rate of the LSTM's inputs and outputs.
        word_dropout: Share of words that lose their word vector in training.
        tune_vectors: Whether the vectors of the words in the training corpus are trained.
        vector_size: Size of the word vectors if they are not pretrained.
        case_sensitive: Whether words are only looked up as written, never in lower case.
        training: The optimiser and its hyper-parameters.
    """

    vectors: WordVectors | None = field(default=None, repr=False)
    hidden_size: int = 100
    shape_size: int = 10
    character_size: int = 25
    character_filters: int = 30
    most_characters: int = 16
    dropout: float = 0.5
    word_dropout: float = 0.05
    tune_vectors: bool = True
    vector_size: int = 100
    case_sensitive: bool = False
    training: Training = DEFAULT

    name = "bilstm-crf"
    preset = "ner"
    unknown_spread: ClassVar[float] = 0.0
    """Words without a pretrained vector are initialised to zero."""

    def __post_init__(self) -> None:
        if min(self.hidden_size, self.vector_size, self.character_size, self.most_characters) < 1:
            raise OptionError(
                f"{self.name}: hidden_size, vector_size, character_size and most_characters must be at least 1."
            )
        if min(self.shape_size, self.character_filters) < 0:
            raise OptionError(f"{self.name}: shape_size and character_filters must be at least 0.")
        for name in ("dropout", "word_dropout"):
            if not 0 <= getattr(self, name) < 1:
                raise OptionError(f"{self.name}: {name} must be in [0, 1), got {getattr(self, name)}.")

    def tokenize(self, corpus: Corpus) -> TokenStream:
        """Return the tokens of a corpus."""
        return corpus_tokens(corpus, self.name)

    def encode(self, tokens: TokenStream, index: WordIndex) -> Inputs:
        """Encode row, shape and characters of each distinct word; every token is a unit."""
        known = {word: at for at, word in enumerate(dict.fromkeys(tokens.words), start=1)}
        words = tuple(known)
        codes = [index.rows(words)[None], shape_codes(words)[None], character_codes(words, self.most_characters)]
        # word 0 is padding
        channels = np.concatenate([np.zeros((2 + self.most_characters, 1), np.int64), np.concatenate(codes)], axis=1)
        text = np.array([known[word] for word in tokens.words], dtype=np.int64)
        return Inputs(tokens.offsets, words=channels, text=text, units=np.arange(len(tokens.words)))

    def network(self, embedding: WordEmbedding, n_classes: int) -> BiLSTMNetwork:
        """Create a new network over word vectors."""
        return BiLSTMNetwork(embedding, n_classes, self)


def character_codes(words: tuple[str, ...], most: int) -> Ints:
    """Return codes[c, v] of the characters of words, 0 for padding; long words are cut in the middle."""
    codes = np.zeros((most, len(words)), dtype=np.int64)

    def code(character: str) -> int:
        """Return 1 to OWN_CODES for the first code points, and one of the SHARED_CODES after them for others."""
        point = ord(character)
        return 1 + point if point < OWN_CODES else 1 + OWN_CODES + point % SHARED_CODES

    for v, word in enumerate(words):
        head = most - most // 2
        read = word if len(word) <= most else word[:head] + word[len(word) - most // 2 :]
        codes[: len(read), v] = [code(one) for one in read]
    return codes


class CharacterFilters(nn.Module):
    """Max-pooled convolution over windows of three characters, for each distinct word."""

    def __init__(self, size: int, filters: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(N_CHARACTERS, size, padding_idx=0)
        self.convolution = nn.Conv1d(size, filters, 3, padding=1)

    def forward(self, characters: Tensor) -> Tensor:
        """Return found[v, d] of characters[c, v]."""
        found: Tensor = self.convolution(self.embedding(characters.T).transpose(1, 2))
        return found.amax(dim=-1)


class BiLSTMNetwork(Network):
    """Network of words, shapes and characters, a BiLSTM, and the unary scores and transitions of a CRF."""

    def __init__(self, embedding: WordEmbedding, n_classes: int, options: BiLSTMCRF) -> None:
        super().__init__()
        self.embedding, self.n_classes, self.word_dropout = embedding, n_classes, options.word_dropout
        self.shapes = nn.Embedding(N_SHAPES, options.shape_size, padding_idx=0) if options.shape_size else None
        filters = options.character_filters
        self.characters = CharacterFilters(options.character_size, filters) if filters else None
        self.dropout = ByteDropout(options.dropout)
        size = embedding.size + options.shape_size + filters
        self.lstm = nn.LSTM(size, options.hidden_size, batch_first=True, bidirectional=True)
        self.output = nn.Linear(2 * options.hidden_size, n_classes)
        self.transitions = TagTransitions(n_classes)

    def logits(self, batch: Batch, precomputed: Tensor | None) -> Tensor:  # noqa: ARG002 (nothing is precomputed)
        """Return unary[u, k]."""
        distinct, place = torch.unique(batch.text, return_inverse=True)
        words = batch.words.index_select(1, distinct)
        inputs = self.vectors(words).index_select(0, place.flatten()).view(*batch.text.shape, -1)
        if self.training and self.word_dropout:
            # Drop the vectors of random words, but not their shapes and characters
            kept = (torch.rand(inputs.shape[:2], device=inputs.device) >= self.word_dropout).to(inputs.dtype)
            mask = torch.ones_like(inputs)
            mask[..., : self.embedding.size] = kept[..., None]
            inputs = inputs * mask
        hidden = self.recurrent(self.dropout(inputs), batch.lengths)
        unary: Tensor = self.output(self.dropout(batch.at_units(hidden)))
        return unary

    def vectors(self, words: Tensor) -> Tensor:
        """Return vectors[v, d] of words[c, v]: those of the word, its shape and its characters."""
        parts = [self.embedding(words[ROW])]
        if self.shapes is not None:
            parts.append(self.shapes(words[SHAPE]))
        if self.characters is not None:
            parts.append(self.characters(words[CHARACTERS:]))
        return torch.cat(parts, dim=1)

    def recurrent(self, inputs: Tensor, lengths: Tensor) -> Tensor:
        """Return hidden[s, t, d] of both directions.

        Each direction is a pass over padded sequences, the backward one over reversed sequences, so that padding at the
        end of a sequence does not affect the positions before it. With packed sequences, the time for torch's gradient
        grows with the square of the length.
        """
        ahead = self._read(inputs, "")
        back = self._read(reverse_sequences(inputs, lengths), "_reverse")
        return torch.cat([ahead, reverse_sequences(back, lengths)], dim=2)

    def _read(self, inputs: Tensor, direction: str) -> Tensor:
        """Return hidden[s, t, d] of one direction of the LSTM, run from the first position."""
        names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
        state = inputs.new_zeros(1, len(inputs), self.lstm.hidden_size)
        hidden: Tensor = torch.lstm(
            inputs,
            (state, state),
            [getattr(self.lstm, name + direction) for name in names],
            has_biases=True,
            num_layers=1,
            dropout=0.0,
            train=self.training,
            bidirectional=False,
            batch_first=True,
        )[0]
        return hidden


def reverse_sequences(values: Tensor, lengths: Tensor) -> Tensor:
    """Return values[s, t, d] with the first lengths[s] positions of each sequence reversed."""
    position = torch.arange(values.shape[1], device=values.device)
    at = torch.where(position < lengths[:, None], lengths[:, None] - 1 - position, position)
    return values.take_along_dim(at[:, :, None], dim=1)
