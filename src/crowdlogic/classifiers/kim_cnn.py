"""Kim's convolutional network for sentences: windows of three widths, the strongest answer of each filter, a softmax.

[KIM14] Kim, "Convolutional neural networks for sentence classification", 2014. As [LNCL] uses it: static vectors,
windows of 3, 4 and 5 words with 100 filters each, dropout 0.5 on the pooled features, Adadelta.

A filter of width w at place t is a sum of w products, one for each place under it. All filters' products at a place
are one row of a matrix product of the word vectors with all weights, so the sliding windows are sums of shifted rows,
and a word's row is the same wherever it stands: it is computed once in a batch.

Axes: s sentence, t place, d dimension, f filter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from crowdlogic.classifiers.dropout import Dropout
from crowdlogic.classifiers.embedding import Embedding
from crowdlogic.classifiers.network import Batch, Inputs, Network
from crowdlogic.classifiers.neural import NeuralClassifier
from crowdlogic.classifiers.protocol import Arrays
from crowdlogic.classifiers.training import Training
from crowdlogic.classifiers.word_network import built, loaded
from crowdlogic.classifiers.words import CUTTERS, Lexicon, Running, running_texts
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import OptionError

PAPER = Training(optimiser="adadelta", rate=1.0, halve_every=5, batch=50, clip=3.0)


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
    training: Training = PAPER

    name = "kim-cnn"
    unknown_spread = 0.01
    """As in the paper's program; [KIM14] has 0.25."""

    def __post_init__(self) -> None:
        if not self.windows or min(*self.windows, self.filters, self.size) < 1:
            raise OptionError(f"{self.name}: windows, filters and size must be 1 or more.")
        if not 0 <= self.dropout < 1 or not self.norm >= 0:
            raise OptionError(f"{self.name}: dropout must lie from 0 to below 1, and norm be 0 or more.")
        if self.words not in CUTTERS:
            raise OptionError(f"{self.name}: words: {self.words!r} is none of {', '.join(CUTTERS)}.")

    @property
    def is_tuned(self) -> bool:
        """Whether the vectors of the training words are trained."""
        return self.vectors is None if self.tuned is None else self.tuned

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> NeuralClassifier:
        """A new network for the words of a corpus."""
        return built(self, corpus, classes, seed=seed)

    def load(self, arrays: Arrays, classes: Classes) -> NeuralClassifier:
        """The network that these arrays were taken from."""
        return loaded(self, arrays, classes)

    def said(self, corpus: Corpus) -> Running:
        """The words of the texts."""
        return running_texts(corpus, self.name, cut=self.words)

    def inputs(self, said: Running, lexicon: Lexicon) -> Inputs:
        """Rows of words; each text is a unit."""
        return Inputs(said.offsets, rows=lexicon.rows(said.words)[None, :])

    def network(self, embedding: Embedding, n_classes: int) -> KimNetwork:
        """A new network over word vectors."""
        return KimNetwork(embedding, n_classes, self)


class KimNetwork(Network):
    """[KIM14] figure 1.

    weight[(width, place under the filter, f), d] holds all filters, bias[(width, f)] their thresholds.
    """

    def __init__(self, embedding: Embedding, n_classes: int, options: KimCNN) -> None:
        super().__init__()
        self.embedding = embedding
        self.windows, self.filters, self.n_classes = options.windows, options.filters, n_classes
        self.weight = nn.Parameter(torch.empty(sum(options.windows) * options.filters, embedding.size))
        self.bias = nn.Parameter(torch.empty(len(options.windows) * options.filters))
        self.dropout = Dropout(options.dropout)
        self.output = nn.Linear(len(options.windows) * options.filters, n_classes)
        self.norm = options.norm
        self._start()

    @torch.no_grad()
    def _start(self) -> None:
        """Start the filters as torch's own convolutions start: uniform within one over the root of their size."""
        weights = self.weight.split([width * self.filters for width in self.windows])
        for width, weight, bias in zip(self.windows, weights, self.bias.split(self.filters), strict=True):
            bound = (width * self.embedding.size) ** -0.5
            nn.init.uniform_(weight, -bound, bound)
            nn.init.uniform_(bias, -bound, bound)

    def logits(self, batch: Batch) -> Tensor:
        """logits[s, k]."""
        products = self.products(batch.rows[0])
        logits: Tensor = self.output(self.dropout(self.pooled(products, batch.lengths)))
        return logits

    def products(self, rows: Tensor) -> Tensor:
        """products[s, t, (width, place under it, f)]: each word with each slice of each filter; a word at a time."""
        different, place = torch.unique(rows, return_inverse=True)
        return nn.functional.embedding(place, self.embedding(different) @ self.weight.T)

    def pooled(self, products: Tensor, lengths: Tensor) -> Tensor:
        """The greatest answer of each filter over a sentence with (widest - 1) empty places on either side."""
        greatest: Tensor = SlidingMax.apply(products, lengths, self.windows, self.filters)
        return torch.relu(greatest + self.bias)

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
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None, None, None]:
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
