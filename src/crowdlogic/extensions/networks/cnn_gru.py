"""CNN-GRU tagger of the paper: word vectors, a convolution over five words, a GRU and a softmax for each token.

[LNCL] section 4.1, after Rodrigues and Pereira 2018: Conv1D with 512 filters over 5 words, "same" padding, relu,
dropout 0.5, a unidirectional GRU with 50 units, softmax; the word vectors are trained as well. Options beyond the paper
are a bidirectional GRU, an embedding of the shape of a word (capitals, digits, punctuation), which lower-case word
vectors do not distinguish, and a CRF on top, which learns how tags follow each other.

Axes: s sentence, t token, d dimension, f filter, k class.
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
from crowdlogic.extensions.networks.kim_cnn import ConvolutionalNetwork, Filters
from crowdlogic.extensions.networks.network import (
    Batch,
    ByteDropout,
    Inputs,
    Training,
    WordEmbedding,
    word_inputs,
)
from crowdlogic.extensions.networks.word_network import (
    N_SHAPES,
    WordArchitecture,
    WordIndex,
    shape_codes,
)

PAPER = Training(optimiser="adam", learning_rate=1e-3, batch_size=64)


@dataclass(frozen=True)
class CNNGRU(WordArchitecture):
    """CNN-GRU tagger. The defaults are those of the paper.

    Attributes:
        vectors: Pretrained word vectors; without them, words are initialised randomly.
        filters: Number of filters of the convolution.
        width: Width of the filters in words; must be odd.
        hidden_size: Hidden size of the GRU (of each direction).
        bidirectional: Whether the GRU is bidirectional.
        shape_size: Size of the embedding of word shapes; 0 for none, as in the paper.
        chain: Whether the output is a CRF over chains of tags instead of a softmax per token, as in the paper.
        dropout: Dropout rate of the convolution's outputs.
        tune_vectors: Whether the vectors of the words in the training corpus are trained.
        vector_size: Size of the word vectors if they are not pretrained.
        case_sensitive: Whether words are only looked up as written, as in the paper's program, never in lower case.
        training: The optimiser and its hyper-parameters.
    """

    vectors: WordVectors | None = field(default=None, repr=False)
    filters: int = 512
    width: int = 5
    hidden_size: int = 50
    bidirectional: bool = False
    shape_size: int = 0
    chain: bool = False
    dropout: float = 0.5
    tune_vectors: bool = True
    vector_size: int = 100
    case_sensitive: bool = False
    training: Training = PAPER

    name = "cnn-gru"
    unknown_spread: ClassVar[float] = 0.0
    """Words without a pretrained vector are initialised to zero, as in the paper's program."""

    def __post_init__(self) -> None:
        if self.width < 1 or self.width % 2 == 0:
            raise OptionError(f"{self.name}: width must be odd, got {self.width}.")
        if min(self.filters, self.hidden_size, self.vector_size) < 1 or self.shape_size < 0:
            raise OptionError(
                f"{self.name}: filters, hidden_size and vector_size must be at least 1, and shape_size at least 0."
            )
        if not 0 <= self.dropout < 1:
            raise OptionError(f"{self.name}: dropout must be in [0, 1), got {self.dropout}.")

    def tokenize(self, corpus: Corpus) -> TokenStream:
        """Return the tokens of a corpus."""
        return corpus_tokens(corpus, self.name)

    def encode(self, tokens: TokenStream, index: WordIndex) -> Inputs:
        """Encode the row and optionally the shape of each word; every token is a unit."""
        rows = [index.rows(tokens.words)]
        if self.shape_size:
            rows.append(shape_codes(tokens.words))
        return word_inputs(tokens.offsets, np.stack(rows), units=np.arange(len(tokens.words)))

    def network(self, embedding: WordEmbedding, n_classes: int) -> TaggerNetwork:
        """Create a new network over word vectors."""
        return TaggerNetwork(embedding, n_classes, self)


class TaggerNetwork(ConvolutionalNetwork):
    """Network of word vectors, a convolution, a GRU and an output layer."""

    def __init__(self, embedding: WordEmbedding, n_classes: int, options: CNNGRU) -> None:
        super().__init__()
        self.embedding, self.n_classes, self.padding = embedding, n_classes, options.width // 2
        self.shapes = nn.Embedding(N_SHAPES, options.shape_size, padding_idx=0) if options.shape_size else None
        self.filters = Filters((options.width,), options.filters, embedding.size + options.shape_size)
        self.dropout = ByteDropout(options.dropout)
        self.gru = nn.GRU(options.filters, options.hidden_size, batch_first=True, bidirectional=options.bidirectional)
        self.output = nn.Linear(options.hidden_size * (2 if options.bidirectional else 1), n_classes)
        if options.chain:
            self.transitions = TagTransitions(n_classes)

    def vectors(self, words: Tensor) -> Tensor:
        """Return vectors[v, d] of words[c, v]: those of the words and their shapes."""
        own: Tensor = self.embedding(words[0])
        return own if self.shapes is None else torch.cat([own, self.shapes(words[1])], dim=1)

    def logits(self, batch: Batch, precomputed: Tensor | None) -> Tensor:
        """Return logits[u, k]."""
        table, words = self.products(batch, precomputed)
        outputs = self.dropout(torch.relu(self.filters.convolve(table, words)))
        logits: Tensor = self.output(batch.at_units(self.recurrent(outputs, batch.lengths)))
        return logits

    def recurrent(self, outputs: Tensor, lengths: Tensor) -> Tensor:
        """Return hidden[s, t, d] of the GRU; sequences are packed if padding could affect the result."""
        hidden: Tensor
        if not self.gru.bidirectional:
            hidden, _ = self.gru(outputs)
            return hidden
        # A sentence without tokens has no unit, but torch requires at least one position per sequence.
        lengths = lengths.clamp(min=1).cpu()
        packed = nn.utils.rnn.pack_padded_sequence(outputs, lengths, batch_first=True, enforce_sorted=False)
        hidden, _ = nn.utils.rnn.pad_packed_sequence(
            self.gru(packed)[0], batch_first=True, total_length=outputs.shape[1]
        )
        return hidden
