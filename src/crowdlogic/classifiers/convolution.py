"""Convolution over words, with each product of a word and a filter slice computed once per distinct word of a batch.

The output of a filter of width w at a position is a sum of w products: of each word in the window with the slice of the
filter at that place. So one matrix product makes a table with a row for each distinct word and slice, and an output is
the sum of w rows. The words of a batch repeat: this saves half of the products and all of the copying of a usual
convolution.

Axes: s sentence, t position, v distinct word, w place in a window, d dimension, f filter of one width.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import torch
from torch import Tensor, nn

from crowdlogic.classifiers.layers import WordEmbedding
from crowdlogic.classifiers.network import Batch, Network

MAX_TABLE_SIZE = 2**26
"""Maximum number of entries of a table that is precomputed for all words of a corpus (256 MB)."""


class Filters(nn.Module):
    """weight[(width, slice, f), d] of all filters and bias[(width, f)], initialised as torch's convolutions are."""

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
        """table[(v, slice), f], the products of vectors[v, d] with all filter slices."""
        return (vectors @ self.weight.T).view(-1, self.count)

    def convolve(self, table: Tensor, words: Tensor) -> Tensor:
        """outputs[s, t, f] at every position where the filters, which must be of one width, fit into words[s, t]."""
        (width,) = self.windows
        return sum_rows(table, window_rows(words, width, 0, width)) + self.bias

    def max_pool(self, table: Tensor, words: Tensor, lengths: Tensor) -> Tensor:
        """outputs[s, (width, f)], the maximum of each filter over the first lengths[s] positions of words[s, t]."""
        found: Tensor = MaxPooling.apply(table, words, lengths, self.windows)
        return found + self.bias


class ConvolutionalNetwork(Network):
    """A network of filters over word vectors, with `padding` empty positions on either side of a sentence."""

    embedding: WordEmbedding
    filters: Filters
    padding: int

    def vectors(self, words: Tensor) -> Tensor:
        """vectors[v, d] of words[c, v]."""
        found: Tensor = self.embedding(words[0])
        return found

    def precompute(self, words: Tensor) -> Tensor | None:
        """The table of all words of a corpus, unless it would be too large."""
        if words.shape[1] * self.filters.weight.shape[0] > MAX_TABLE_SIZE:
            return None
        return self.filters.table(self.vectors(words))

    def products(self, batch: Batch, precomputed: Tensor | None) -> tuple[Tensor, Tensor]:
        """A table of products (the precomputed one, else of the batch's words) and words[s, t], their rows in it."""
        text = nn.functional.pad(batch.text, (self.padding, self.padding))
        if precomputed is not None:
            return precomputed, text
        distinct, words = torch.unique(text, return_inverse=True)
        return self.filters.table(self.vectors(batch.words[:, distinct])), words


def window_rows(words: Tensor, width: int, first: int, slices: int) -> Tensor:
    """rows[s, t, w] of the table for the window at each position; `first` is its first slice among all `slices`."""
    return words.unfold(1, width, 1) * slices + torch.arange(first, first + width, device=words.device)


def sum_rows(table: Tensor, rows: Tensor) -> Tensor:
    """outputs[s, t, f], the sum over w of the table's rows[s, t, w]."""
    return nn.functional.embedding_bag(rows.flatten(0, 1), table, mode="sum").view(*rows.shape[:2], -1)


class MaxPooling(torch.autograd.Function):
    """The maximum of each filter over a sentence. Only the maxima have a gradient, so `backward` is sparse."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, words: Tensor, lengths: Tensor, windows: tuple[int, ...]) -> Tensor:
        """outputs[s, (width, f)]; minus infinity where a sentence is too short for a filter."""
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
        """The gradient of each maximum, added to the w rows of the table whose sum it was."""
        back = gradient.new_zeros(ctx.shape)
        count = ctx.shape[1]
        filters = torch.arange(count, device=gradient.device)[None, :, None]
        for own, rows in zip(gradient.split(count, dim=1), ctx.saved_tensors, strict=True):
            cells = rows * count + filters  # flat indices of table[row, f]
            back.view(-1).scatter_add_(0, cells.reshape(-1), own[:, :, None].expand_as(cells).reshape(-1))
        return back, None, None, None
