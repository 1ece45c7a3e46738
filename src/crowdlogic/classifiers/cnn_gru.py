"""The tagger of the paper: word vectors, one convolution over five words, a gated recurrent layer, a softmax per token.

[LNCL] section 4.1, after Rodrigues and Pereira 2018: Conv1D of 512 filters over 5 words, "same" padding, relu, dropout
0.5, GRU with 50 units in one direction, softmax; the vectors are trained, too. Options go further: both directions,
and what a word looks like (its capitals, digits and marks), which lower-case vectors do not know.

Axes: s sentence, t token, d dimension, f filter, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor, nn

from crowdlogic.classifiers.convolution import FilterNetwork, Filters
from crowdlogic.classifiers.layers import Dropout, Embedding
from crowdlogic.classifiers.network import Batch, Inputs, word_inputs
from crowdlogic.classifiers.neural import NeuralClassifier
from crowdlogic.classifiers.protocol import Arrays
from crowdlogic.classifiers.training import Training
from crowdlogic.classifiers.word_network import build_classifier, load_classifier
from crowdlogic.classifiers.words import N_SHAPES, TokenStream, WordIndex, corpus_tokens, shape_codes
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import OptionError

PAPER = Training(optimiser="adam", learning_rate=1e-3, batch_size=64)


@dataclass(frozen=True)
class CNNGRU:
    """The options of the tagger; as they stand, those of the paper.

    Attributes:
        vectors: The word vectors; without any, words start at random.
        filters: How many filters the convolution has.
        width: How many words it looks at; odd.
        hidden_size: The size of the recurrent layer (of each direction).
        bidirectional: Whether it also reads from right to left.
        shape_size: The dimensions for what a word looks like; 0 leaves it out, as in the paper.
        dropout: The share of the convolution's answers left out in training.
        tune_vectors: Whether the vectors of the training words are trained.
        vector_size: The dimensions of a word when there are no vectors.
        case_sensitive: Whether vectors are looked up as words stand, never in lower case: as in the paper's program.
        training: The optimiser and its options.
    """

    vectors: WordVectors | None = field(default=None, repr=False)
    filters: int = 512
    width: int = 5
    hidden_size: int = 50
    bidirectional: bool = False
    shape_size: int = 0
    dropout: float = 0.5
    tune_vectors: bool = True
    vector_size: int = 100
    case_sensitive: bool = False
    training: Training = PAPER

    name = "cnn-gru"
    unknown_spread = 0.0
    """As in the paper's program: words without a vector start at zero."""

    def __post_init__(self) -> None:
        if self.width < 1 or self.width % 2 == 0:
            raise OptionError(f"{self.name}: width must be odd, not {self.width}.")
        if min(self.filters, self.hidden_size, self.vector_size) < 1 or self.shape_size < 0:
            raise OptionError(
                f"{self.name}: filters, hidden_size and vector_size must be 1 or more, and shape_size 0 or more."
            )
        if not 0 <= self.dropout < 1:
            raise OptionError(f"{self.name}: dropout must lie from 0 to below 1, not {self.dropout}.")

    @property
    def is_tuned(self) -> bool:
        """Whether the vectors of the training words are trained."""
        return self.tune_vectors

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> NeuralClassifier:
        """A new network for the words of a corpus."""
        return build_classifier(self, corpus, classes, seed=seed)

    def load(self, arrays: Arrays, classes: Classes) -> NeuralClassifier:
        """The network that these arrays were taken from."""
        return load_classifier(self, arrays, classes)

    def said(self, corpus: Corpus) -> TokenStream:
        """The tokens."""
        return corpus_tokens(corpus, self.name)

    def inputs(self, said: TokenStream, index: WordIndex) -> Inputs:
        """Rows of words, and of what they look like; each token is a unit."""
        rows = [index.rows(said.words)]
        if self.shape_size:
            rows.append(shape_codes(said.words))
        return word_inputs(said.offsets, np.stack(rows), units=np.arange(len(said.words)))

    def network(self, embedding: Embedding, n_classes: int) -> TaggerNetwork:
        """A new network over word vectors."""
        return TaggerNetwork(embedding, n_classes, self)


class TaggerNetwork(FilterNetwork):
    """Vectors, convolution, recurrence, softmax."""

    def __init__(self, embedding: Embedding, n_classes: int, options: CNNGRU) -> None:
        super().__init__()
        self.embedding, self.n_classes, self.reach = embedding, n_classes, options.width // 2
        self.shapes = nn.Embedding(N_SHAPES, options.shape_size, padding_idx=0) if options.shape_size else None
        self.filters = Filters((options.width,), options.filters, embedding.size + options.shape_size)
        self.dropout = Dropout(options.dropout)
        self.gru = nn.GRU(options.filters, options.hidden_size, batch_first=True, bidirectional=options.bidirectional)
        self.output = nn.Linear(options.hidden_size * (2 if options.bidirectional else 1), n_classes)

    def vectors(self, words: Tensor) -> Tensor:
        """vectors[v, d]: of each word, and of its looks."""
        own: Tensor = self.embedding(words[0])
        return own if self.shapes is None else torch.cat([own, self.shapes(words[1])], dim=1)

    def logits(self, batch: Batch, precomputed: Tensor | None) -> Tensor:
        """logits[u, k]."""
        table, place = self.products(batch, precomputed)
        answers = self.dropout(torch.relu(self.filters.convolve(table, place)))
        logits: Tensor = self.output(batch.at_units(self.recurrent(answers, batch.lengths)))
        return logits

    def recurrent(self, answers: Tensor, lengths: Tensor) -> Tensor:
        """hidden[s, t, d]. From left to right, padding comes after all that counts; the other way it must be cut."""
        hidden: Tensor
        if not self.gru.bidirectional:
            hidden, _ = self.gru(answers)
            return hidden
        # A sentence without a token has no unit, but torch wants every sequence to have a place.
        cut = nn.utils.rnn.pack_padded_sequence(
            answers, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
        )
        hidden, _ = nn.utils.rnn.pad_packed_sequence(self.gru(cut)[0], batch_first=True, total_length=answers.shape[1])
        return hidden
