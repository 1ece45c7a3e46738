"""The tagger of the paper: word vectors, one convolution over five words, a gated recurrent layer, a softmax per token.

[LNCL] section 4.1, after Rodrigues and Pereira 2018: Conv1D of 512 filters over 5 words, "same" padding, relu, dropout
0.5, GRU with 50 units in one direction, softmax; the vectors are trained, too. Options go further: both directions,
and what a word looks like (its capitals, digits and marks), which lower-case vectors do not know.

Axes: s sentence, t token, d dimension, f filter, k class.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from crowdlogic.classifiers.dropout import Dropout
from crowdlogic.classifiers.embedding import Embedding
from crowdlogic.classifiers.network import Batch, Inputs, Network, NeuralClassifier, Training
from crowdlogic.classifiers.protocol import FIXED, Arrays, needed, packed, seed_of, unpacked
from crowdlogic.classifiers.shapes import N_SHAPES, shape_codes
from crowdlogic.classifiers.words import Lexicon, lexicon_of, running, word_matrix
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import OptionError

WORDS = FIXED + "words"


@dataclass(frozen=True)
class CNNGRU:
    """The options of the tagger; as they stand, those of the paper.

    Attributes:
        vectors: The word vectors; without any, words start at random.
        filters: How many filters the convolution has.
        width: How many words it looks at; odd.
        units: The size of the recurrent layer (of each direction).
        bidirectional: Whether it also reads from right to left.
        shapes: The dimensions for what a word looks like; 0 leaves it out, as in the paper.
        dropout: The share of the convolution's answers left out in training.
        tuned: Whether the vectors of the training words are trained.
        size: The dimensions of a word when there are no vectors.
        exact: Whether vectors are looked up as words stand, never in lower case: as in the paper's program.
        training: The optimiser and its options.
    """

    vectors: WordVectors | None = field(default=None, repr=False)
    filters: int = 512
    width: int = 5
    units: int = 50
    bidirectional: bool = False
    shapes: int = 0
    dropout: float = 0.5
    tuned: bool = True
    size: int = 100
    exact: bool = False
    training: Training = Training(optimiser="adam", rate=1e-3, batch=64)

    name = "cnn-gru"

    def __post_init__(self) -> None:
        if self.width < 1 or self.width % 2 == 0:
            raise OptionError(f"{self.name}: width must be odd, not {self.width}.")
        if min(self.filters, self.units) < 1 or self.shapes < 0:
            raise OptionError(f"{self.name}: filters and units must be 1 or more, and shapes 0 or more.")
        if not 0 <= self.dropout < 1:
            raise OptionError(f"{self.name}: dropout must lie from 0 to below 1, not {self.dropout}.")

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> NeuralClassifier:
        """A new network for the words of a corpus."""
        needed(corpus, "tokens", self.name)
        lexicon, n_own = lexicon_of(running(corpus).words, self.vectors, exact=self.exact)
        size = self.size if self.vectors is None else self.vectors.size
        rng = np.random.default_rng(seed_of(seed, "words"))
        spread = 0.0 if self.vectors is not None else 0.25
        matrix = word_matrix(lexicon, self.vectors, size=size, spread=spread, rng=rng)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_of(seed, "weights"))
            network = TaggerNetwork(Embedding(matrix, n_own, tuned=self.tuned), len(classes), self)
        return self._classifier(network, lexicon, seed)

    def load(self, arrays: Arrays, classes: Classes) -> NeuralClassifier:
        """The network that these arrays were taken from."""
        lexicon = Lexicon(unpacked(arrays[WORDS]), exact=self.exact)
        parts = [np.asarray(arrays[f"model.embedding.{part}"]) for part in ("own", "rest")]
        embedding = Embedding(np.concatenate(parts), len(parts[0]), tuned=self.tuned)
        made = self._classifier(TaggerNetwork(embedding, len(classes), self), lexicon, 0)
        made.restore(arrays)
        return made

    def _classifier(self, network: TaggerNetwork, lexicon: Lexicon, seed: int) -> NeuralClassifier:
        read = partial(_read, lexicon, self)
        return NeuralClassifier(network, read, self.training, seed=seed, fixed={WORDS: packed(lexicon.words)})


def _read(lexicon: Lexicon, options: CNNGRU, corpus: Corpus) -> Inputs:
    needed(corpus, "tokens", options.name)
    said = running(corpus)
    rows = [lexicon.rows(said.words)]
    if options.shapes:
        rows.append(shape_codes(said.words))
    return Inputs(said.offsets, rows=np.stack(rows), targets_per_place=True)


class TaggerNetwork(Network):
    """Vectors, convolution, recurrence, softmax."""

    def __init__(self, embedding: Embedding, n_classes: int, options: CNNGRU) -> None:
        super().__init__()
        self.embedding, self.n_classes, self.width = embedding, n_classes, options.width
        self.shapes = nn.Embedding(N_SHAPES, options.shapes, padding_idx=0) if options.shapes else None
        self.convolution = nn.Conv1d(embedding.size + options.shapes, options.filters, options.width)
        self.dropout = Dropout(options.dropout)
        self.gru = nn.GRU(options.filters, options.units, batch_first=True, bidirectional=options.bidirectional)
        self.output = nn.Linear(options.units * (2 if options.bidirectional else 1), n_classes)

    def logits(self, batch: Batch) -> Tensor:
        """logits[s, t, k]."""
        if batch.rows is None or batch.real is None:
            raise OptionError("cnn-gru looks at tokens.")
        words = self.embedding(batch.rows[0])
        if self.shapes is not None:
            words = torch.cat([words, self.shapes(batch.rows[1])], dim=2)
        answers = self.dropout(torch.relu(self.convolved(words)))
        return self.output(self.recurrent(answers, batch.lengths))

    def convolved(self, words: Tensor) -> Tensor:
        """answers[s, t, f]: the words under the window side by side, times all filters at once."""
        reach = self.width // 2
        around = nn.functional.pad(words, (0, 0, reach, reach))
        beside = torch.cat([around[:, under : under + words.shape[1]] for under in range(self.width)], dim=2)
        weight = self.convolution.weight.permute(0, 2, 1).flatten(1)
        return nn.functional.linear(beside, weight, self.convolution.bias)

    def recurrent(self, answers: Tensor, lengths: Tensor) -> Tensor:
        """hidden[s, t, d]. From left to right, padding comes after all that counts; the other way it must be cut."""
        if not self.gru.bidirectional:
            return self.gru(answers)[0]
        ragged = nn.utils.rnn.pack_padded_sequence(answers, lengths.cpu(), batch_first=True, enforce_sorted=False)
        hidden, _ = nn.utils.rnn.pad_packed_sequence(self.gru(ragged)[0], batch_first=True)
        return hidden
