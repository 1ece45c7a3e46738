"""Kim's convolutional network for sentences: filters of several widths, max-pooling over time and a softmax.

[KIM14] Kim, "Convolutional neural networks for sentence classification", 2014. The defaults are those of [LNCL]: static
vectors, windows of 3, 4 and 5 words with 100 filters each, dropout 0.5 on the pooled features, Adadelta.

Axes: s sentence, t position, d dimension, f filter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, ClassVar

import torch
from torch import Tensor, nn

from crowdlogic.classifiers.features import TokenStream
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import OptionError
from crowdlogic.extensions.networks.network import (
    Batch,
    ByteDropout,
    Inputs,
    Network,
    Training,
    WordEmbedding,
    word_inputs,
)
from crowdlogic.extensions.networks.word_network import (
    TOKENIZERS,
    WordArchitecture,
    WordIndex,
    tokenize_texts,
)

# The product of each word with each filter slice is computed once per distinct word of a batch. The output of a filter
# of width w at a position is a sum of w products: of each word in the window with the matching slice of the filter.
# One matrix product makes a table with a row for each distinct word and slice, and an output is the sum of w rows.
# Words are repeated within a batch, so this saves half of the products and all of the copying of a usual convolution.
#
# Axes: s sentence, t position, v distinct word, w place in a window, d dimension, f filter of one width.
MAX_TABLE_SIZE = 2**26
"""Maximum size of a table precomputed for all words of a corpus (256 MB)."""


class Filters(nn.Module):
    """Filters with weight[(width, slice, f), d] and bias[(width, f)], initialised like torch's convolutions."""

    def __init__(self, windows: tuple[int, ...], count: int, size: int) -> None:
        super().__init__()
        self.windows, self.count = windows, count
        self.weight = nn.Parameter(torch.empty(sum(windows) * count, size))
        self.bias = nn.Parameter(torch.empty(len(windows) * count))
        with torch.no_grad():
            weights, biases = self.weight.split([width * count for width in windows]), self.bias.split(count)
            for width, weight, bias in zip(windows, weights, biases, strict=True):
                bound = (width * size) ** -0.5
                nn.init.uniform_(weight, -bound, bound)
                nn.init.uniform_(bias, -bound, bound)

    def table(self, vectors: Tensor) -> Tensor:
        """Return table[(v, slice), f], the products of vectors[v, d] with all filter slices."""
        return (vectors @ self.weight.T).view(-1, self.count)

    def convolve(self, table: Tensor, words: Tensor) -> Tensor:
        """Return outputs[s, t, f] at all positions where filters of a single width fit into words[s, t]."""
        (width,) = self.windows
        return sum_rows(table, window_rows(words, width, 0, width)) + self.bias

    def max_pool(self, table: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
        """Return outputs[s, (width, f)], the maximum of each filter over the first lengths[s] positions."""
        found: Tensor = MaxPooling.apply(table, words, lengths, self.windows)
        return found + self.bias


class ConvolutionalNetwork(Network):
    """Network of filters over word vectors, with `padding` empty positions on both sides of a sentence."""

    embedding: WordEmbedding
    filters: Filters
    padding: int

    def vectors(self, words: Tensor) -> Tensor:
        """Return vectors[v, d] of words[c, v]."""
        found: Tensor = self.embedding(words[0])
        return found

    def precompute(self, words: Tensor) -> Tensor | None:
        """Return the table of all words of a corpus; None if it would be too large."""
        if words.shape[1] * self.filters.weight.shape[0] > MAX_TABLE_SIZE:
            return None
        return self.filters.table(self.vectors(words))

    def products(self, batch: Batch, precomputed: Tensor | None) -> tuple[Tensor, Tensor]:
        """Return a table of products (precomputed, or for the batch's words) and words[s, t], the rows in it."""
        text = nn.functional.pad(batch.text, (self.padding, self.padding))
        if precomputed is not None:
            return precomputed, text
        distinct, words = torch.unique(text, return_inverse=True)
        return self.filters.table(self.vectors(batch.words[:, distinct])), words


def window_rows(words: Tensor, width: int, first: int, slices: int) -> Tensor:
    """Return the table rows[s, t, w] of the window at each position, from slice `first` of all `slices`."""
    return words.unfold(1, width, 1) * slices + torch.arange(first, first + width, device=words.device)


def sum_rows(table: Tensor, rows: Tensor) -> Tensor:
    """Return outputs[s, t, f], the sum over w of the table's rows[s, t, w]."""
    return nn.functional.embedding_bag(rows.flatten(0, 1), table, mode="sum").view(*rows.shape[:2], -1)


class MaxPooling(torch.autograd.Function):
    """Maximum of each filter over a sentence. Only the maxima have a gradient, so `backward` is sparse."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, words: Tensor, lengths: Tensor, windows: tuple[int, ...]) -> Tensor:
        """Return outputs[s, (width, f)]; minus infinity if a sentence is too short for a filter."""
        maxima, argmax_rows = [], []
        for width, last in zip(windows, accumulate(windows), strict=True):
            rows = window_rows(words, width, last - width, sum(windows))
            outputs = sum_rows(table, rows)
            outside = torch.arange(rows.shape[1], device=words.device) > (lengths - width)[:, None]
            value, at = outputs.masked_fill_(outside[:, :, None], -torch.inf).max(dim=1)
            maxima.append(value)
            # rows[s, f, w] of the window that had the maximum
            argmax_rows.append(rows.gather(1, at[:, :, None].expand(-1, -1, width)))
        ctx.save_for_backward(*argmax_rows)
        ctx.shape = table.shape
        return torch.cat(maxima, dim=1)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None, None]:
        """Add the gradient of each maximum to the w rows of the table that were summed."""
        back = gradient.new_zeros(ctx.shape)
        count = ctx.shape[1]
        filters = torch.arange(count, device=gradient.device)[None, :, None]
        for own, rows in zip(gradient.split(count, dim=1), ctx.saved_tensors, strict=True):
            cells = rows * count + filters  # flat indices of table[row, f]
            back.view(-1).scatter_add_(0, cells.reshape(-1), own[:, :, None].expand_as(cells).reshape(-1))
        return back, None, None, None


PAPER = Training(optimiser="adadelta", learning_rate=1.0, halve_every=5, batch_size=50, clip_norm=3.0)
"""Training in the paper. Its program clips the gradient's norm at 3, while [KIM14] rescales the output weights."""


@dataclass(frozen=True)
class KimCNN(WordArchitecture):
    """Kim's convolutional network. The defaults are those of the paper.

    Attributes:
        vectors: Pretrained word vectors; without them, words are initialised randomly and trained.
        windows: Widths of the filters.
        filters: Number of filters of each width.
        dropout: Dropout rate of the pooled features.
        tune_vectors: Whether the word vectors are trained. None: only if they are not pretrained.
        vector_size: Size of the word vectors if they are not pretrained.
        max_norm: Maximum norm of the output weights of a class ([KIM14]); 0 for no limit.
        tokenizer: Tokenizer for texts: kim or plain.
        case_sensitive: Whether words are only looked up as written, never in lower case.
        training: The optimiser and its hyper-parameters.
    """

    vectors: WordVectors | None = field(default=None, repr=False)
    windows: tuple[int, ...] = (3, 4, 5)
    filters: int = 100
    dropout: float = 0.5
    tune_vectors: bool | None = None
    vector_size: int = 100
    max_norm: float = 0.0
    tokenizer: str = "kim"
    case_sensitive: bool = False
    training: Training = PAPER

    name = "kim-cnn"
    unknown_spread: ClassVar[float] = 0.01
    """Value of the paper's program; [KIM14] uses 0.25."""

    def __post_init__(self) -> None:
        if not self.windows or min(*self.windows, self.filters, self.vector_size) < 1:
            raise OptionError(f"{self.name}: windows, filters and vector_size must be at least 1.")
        if not 0 <= self.dropout < 1 or not self.max_norm >= 0:
            raise OptionError(f"{self.name}: dropout must be in [0, 1) and max_norm at least 0.")
        if self.tokenizer not in TOKENIZERS:
            raise OptionError(
                f"{self.name}: tokenizer: expected one of {', '.join(TOKENIZERS)}; got {self.tokenizer!r}."
            )

    def tokenize(self, corpus: Corpus) -> TokenStream:
        """Return the words of the texts."""
        return tokenize_texts(corpus, self.name, tokenizer=self.tokenizer)

    def encode(self, tokens: TokenStream, index: WordIndex) -> Inputs:
        """Encode the row of each word; every text is one unit."""
        return word_inputs(tokens.offsets, index.rows(tokens.words)[None, :])

    def network(self, embedding: WordEmbedding, n_classes: int) -> KimNetwork:
        """Create a new network over word vectors."""
        return KimNetwork(embedding, n_classes, self)


class KimNetwork(ConvolutionalNetwork):
    """Network of [KIM14] figure 1."""

    def __init__(self, embedding: WordEmbedding, n_classes: int, options: KimCNN) -> None:
        super().__init__()
        self.embedding, self.n_classes = embedding, n_classes
        self.padding = max(options.windows) - 1
        self.filters = Filters(options.windows, options.filters, embedding.size)
        self.dropout = ByteDropout(options.dropout)
        self.output = nn.Linear(len(options.windows) * options.filters, n_classes)
        self.max_norm = options.max_norm

    def logits(self, batch: Batch, precomputed: Tensor | None) -> Tensor:
        """Return logits[s, k], from the maximum of each filter over the padded sentence."""
        table, words = self.products(batch, precomputed)
        pooled = self.filters.max_pool(table, words, batch.lengths + 2 * self.padding)
        logits: Tensor = self.output(self.dropout(torch.relu(pooled)))
        return logits

    def after_step(self) -> None:
        """Rescale the output weights of a class whose norm exceeds max_norm ([KIM14] section 2.1)."""
        if self.max_norm:
            with torch.no_grad():
                weight = self.output.weight  # weight[k, d], or weight[j, k, d] with one head per annotator
                weight.copy_(torch.renorm(weight.flatten(0, -2), 2, 0, self.max_norm).view_as(weight))
