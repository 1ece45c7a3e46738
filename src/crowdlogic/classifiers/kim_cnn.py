"""Kim's convolutional network for sentences: windows of three widths, the strongest answer of each filter, a softmax.

[KIM14] Kim, "Convolutional neural networks for sentence classification", 2014. As [LNCL] uses it: static vectors,
windows of 3, 4 and 5 words with 100 filters each, dropout 0.5 on the pooled features, Adadelta.

A filter of width w at place t is a sum of w products, one for each place under it. All filters' products at a place
are one row of a matrix product of the word vectors with all weights, so the sliding windows are sums of shifted rows.
Without training, a word's row is the same wherever it stands and is computed once.

Axes: s sentence, t place, d dimension, f filter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from crowdlogic.classifiers.dropout import Dropout
from crowdlogic.classifiers.embedding import Embedding
from crowdlogic.classifiers.network import Batch, Inputs, Network, NeuralClassifier, Training
from crowdlogic.classifiers.protocol import FIXED, Arrays, needed, packed, seed_of, unpacked
from crowdlogic.classifiers.words import Lexicon, lexicon_of, running, word_matrix
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import OptionError

WORDS = FIXED + "words"
SPREAD = 0.01
"""Words without a vector start uniform within this, as in the paper's program; [KIM14] has 0.25."""


@dataclass(frozen=True)
class KimCNN:
    """The options of Kim's network; as they stand, those of the paper.

    Attributes:
        vectors: The word vectors; without any, words start at random and are trained.
        windows: The widths of the filters.
        filters: How many there are of each width.
        dropout: The share of pooled features left out in training.
        tuned: Whether the vectors of the training words are trained, too. None: only when there are no vectors.
        size: The dimensions of a word when there are no vectors.
        norm: The greatest norm of a class' output weights, to which they are scaled back ([KIM14]); 0 for none.
        words: How a text is cut into words: kim or plain.
        exact: Whether vectors are looked up as words stand, never in lower case.
        training: The optimiser and its options. The paper's program clips the gradient's norm at 3 where [KIM14]
            rescales the output weights.
    """

    vectors: WordVectors | None = field(default=None, repr=False)
    windows: tuple[int, ...] = (3, 4, 5)
    filters: int = 100
    dropout: float = 0.5
    tuned: bool | None = None
    size: int = 100
    norm: float = 0.0
    words: str = "kim"
    exact: bool = False
    training: Training = Training(optimiser="adadelta", rate=1.0, halve_every=5, batch=50, clip=3.0)

    name = "kim-cnn"

    def __post_init__(self) -> None:
        if not self.windows or min(self.windows) < 1 or self.filters < 1:
            raise OptionError(f"{self.name}: windows and filters must be 1 or more.")
        if not 0 <= self.dropout < 1:
            raise OptionError(f"{self.name}: dropout must lie from 0 to below 1, not {self.dropout}.")

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> NeuralClassifier:
        """A new network for the words of a corpus."""
        needed(corpus, "texts", self.name)
        lexicon, n_own = lexicon_of(running(corpus, split=self.words).words, self.vectors, exact=self.exact)
        size = self.size if self.vectors is None else self.vectors.size
        rng = np.random.default_rng(seed_of(seed, "words"))
        spread = SPREAD if self.vectors is not None else 0.25
        matrix = word_matrix(lexicon, self.vectors, size=size, spread=spread, rng=rng)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed_of(seed, "weights"))
            network = KimNetwork(Embedding(matrix, n_own, tuned=self._is_tuned), len(classes), self)
        return self._classifier(network, lexicon, seed)

    def load(self, arrays: Arrays, classes: Classes) -> NeuralClassifier:
        """The network that these arrays were taken from."""
        lexicon = Lexicon(unpacked(arrays[WORDS]), exact=self.exact)
        parts = [np.asarray(arrays[f"model.embedding.{part}"]) for part in ("own", "rest")]
        embedding = Embedding(np.concatenate(parts), len(parts[0]), tuned=self._is_tuned)
        made = self._classifier(KimNetwork(embedding, len(classes), self), lexicon, 0)
        made.restore(arrays)
        return made

    @property
    def _is_tuned(self) -> bool:
        return self.vectors is None if self.tuned is None else self.tuned

    def _classifier(self, network: KimNetwork, lexicon: Lexicon, seed: int) -> NeuralClassifier:
        read = partial(_read, lexicon, self)
        return NeuralClassifier(network, read, self.training, seed=seed, fixed={WORDS: packed(lexicon.words)})


def _read(lexicon: Lexicon, options: KimCNN, corpus: Corpus) -> Inputs:
    needed(corpus, "texts", options.name)
    said = running(corpus, split=options.words)
    return Inputs(said.offsets, rows=lexicon.rows(said.words)[None, :])


class KimNetwork(Network):
    """[KIM14] figure 1."""

    def __init__(self, embedding: Embedding, n_classes: int, options: KimCNN) -> None:
        super().__init__()
        self.embedding = embedding
        self.windows, self.filters, self.n_classes = options.windows, options.filters, n_classes
        self.convolutions = nn.ModuleList(
            nn.Conv1d(embedding.size, options.filters, width) for width in options.windows
        )
        self.dropout = Dropout(options.dropout)
        self.output = nn.Linear(len(options.windows) * options.filters, n_classes)
        self.norm = options.norm

    def logits(self, batch: Batch) -> Tensor:
        """logits[s, k]."""
        if batch.rows is None or batch.real is None:
            raise OptionError("kim-cnn looks at words.")
        products = self.products(batch.rows[0])
        bias = torch.cat([conv.bias for conv in self.convolutions])
        pooled = torch.relu(SlidingMax.apply(products, batch.lengths, self.windows, self.filters) + bias)
        return self.output(self.dropout(pooled))

    def products(self, rows: Tensor) -> Tensor:
        """products[s, t, (width, place under it, f)]: each word with each slice of each filter; a word at a time."""
        weight = torch.cat([conv.weight.permute(2, 0, 1).flatten(0, 1) for conv in self.convolutions])
        different, place = torch.unique(rows, return_inverse=True)
        return nn.functional.embedding(place, self.embedding(different) @ weight.T)

    def after_step(self) -> None:
        """Scale back the output weights of a class whose norm is too great ([KIM14] section 2.1)."""
        if self.norm:
            with torch.no_grad():
                self.output.weight.copy_(torch.renorm(self.output.weight, 2, 0, self.norm))


class SlidingMax(torch.autograd.Function):
    """The greatest sum under each filter's sliding window, over a sentence with w - 1 empty places on either side.

    Only the place of the greatest sum has a gradient, so the way back writes few numbers instead of all windows.
    """

    @staticmethod
    def forward(ctx: Any, products: Tensor, lengths: Tensor, windows: tuple[int, ...], filters: int) -> Tensor:
        """pooled[s, (width, f)]."""
        reach = max(windows) - 1
        around = nn.functional.pad(products, (0, 0, reach, reach))
        begin, greatest, places = 0, [], []
        for width in windows:
            count = around.shape[1] - width + 1
            answer = around[:, :count, begin : begin + filters].clone()
            for under in range(1, width):
                first = begin + under * filters
                answer += around[:, under : under + count, first : first + filters]
            begin += width * filters
            outside = torch.arange(count, device=lengths.device) >= (lengths + 2 * reach - width + 1)[:, None]
            value, place = answer.masked_fill_(outside[:, :, None], -torch.inf).max(dim=1)
            greatest.append(value)
            places.append(place)
        ctx.save_for_backward(torch.stack(places))
        ctx.windows, ctx.filters, ctx.shape = windows, filters, products.shape
        return torch.cat(greatest, dim=1)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None, None, None]:  # type: ignore[override]
        """Each slope goes to the w products whose sum was the greatest."""
        (places,) = ctx.saved_tensors
        windows, filters, reach = ctx.windows, ctx.filters, max(ctx.windows) - 1
        back = slope.new_zeros(ctx.shape)
        begin = 0
        for number, (width, place) in enumerate(zip(windows, places, strict=True)):
            own = slope[:, number * filters : (number + 1) * filters]
            for under in range(width):
                at = place + (under - reach)
                inside = (at >= 0) & (at < ctx.shape[1])  # an empty place learns nothing
                part = back[:, :, begin : begin + filters]
                part.scatter_(1, at.clamp(0, ctx.shape[1] - 1)[:, None], (own * inside)[:, None])
                begin += filters
        return back, None, None, None
