"""Filters that slide over words, by products that are computed once for each different word of a batch.

The answer of a filter of width w at a place is a sum of w products: of each word under it with the slice of the filter
above that word. So there is a table with a row for each different word and slice, made by one matrix product; an answer
is the sum of w of its rows, and the words of a batch repeat: half of the products are saved, and all of the copying
that a convolution does.

Axes: s sentence, t place, v different word, d dimension, f filter of one width.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import torch
from torch import Tensor, nn

from crowdlogic.classifiers.layers import Embedding
from crowdlogic.classifiers.network import Batch, Network

MAX_TABLE_SIZE = 2**26
"""The most numbers in a table that is kept for the words of a whole corpus (256 MB)."""


class Filters(nn.Module):
    """weight[(width, slice, f), d] of all filters and bias[(width, f)]; they start as torch's convolutions do."""

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

    def table(self, words: Tensor) -> Tensor:
        """table[(v, slice), f] of words[v, d]."""
        return (words @ self.weight.T).view(-1, self.count)

    def convolve(self, table: Tensor, place: Tensor) -> Tensor:
        """answers[s, t, f] at every place where the filters, all of one width, fit."""
        (width,) = self.windows
        return sums(table, rows_under(place, width, 0, width)) + self.bias

    def max_pool(self, table: Tensor, place: Tensor, lengths: Tensor) -> Tensor:
        """The greatest answer of each filter over the first lengths[s] places of a sentence: answers[s, (width, f)]."""
        found: Tensor = MaxPooling.apply(table, place, lengths, self.windows)
        return found + self.bias


class FilterNetwork(Network):
    """A network of filters over word vectors, with `reach` empty places on either side of a sentence."""

    embedding: Embedding
    filters: Filters
    reach: int

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
        """A table of products, of the batch's own words when none is precomputed, and place[s, t] of words in it."""
        text = nn.functional.pad(batch.text, (self.reach, self.reach))
        if precomputed is not None:
            return precomputed, text
        different, place = torch.unique(text, return_inverse=True)
        return self.filters.table(self.vectors(batch.words[:, different])), place


def rows_under(place: Tensor, width: int, first: int, slices: int) -> Tensor:
    """rows[s, t, w] of the table under a window at each place; its first slice is number `first` of all slices."""
    return place.unfold(1, width, 1) * slices + torch.arange(first, first + width, device=place.device)


def sums(table: Tensor, rows: Tensor) -> Tensor:
    """answers[s, t, f], the sum of the table's rows[s, t, w]."""
    return nn.functional.embedding_bag(rows.flatten(0, 1), table, mode="sum").view(*rows.shape[:2], -1)


class MaxPooling(torch.autograd.Function):
    """The greatest answers over a sentence. Only their places have a gradient: the way back writes few numbers."""

    @staticmethod
    def forward(ctx: Any, table: Tensor, place: Tensor, lengths: Tensor, windows: tuple[int, ...]) -> Tensor:
        """answers[s, (width, f)]; minus infinity where a sentence is too short for a filter."""
        greatest, chosen = [], []
        for width, last in zip(windows, accumulate(windows), strict=True):
            rows = rows_under(place, width, last - width, sum(windows))
            answers = sums(table, rows)
            outside = torch.arange(rows.shape[1], device=place.device) > (lengths - width)[:, None]
            value, at = answers.masked_fill_(outside[:, :, None], -torch.inf).max(dim=1)
            greatest.append(value)
            chosen.append(rows.gather(1, at[:, :, None].expand(-1, -1, width)))
        ctx.save_for_backward(*chosen)
        ctx.shape = table.shape
        return torch.cat(greatest, dim=1)

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor, None, None, None]:
        """Each slope goes to the w rows of the table whose sum was the greatest."""
        back = slope.new_zeros(ctx.shape)
        count = ctx.shape[1]
        filters = torch.arange(count, device=slope.device)[None, :, None]
        for own, rows in zip(slope.split(count, dim=1), ctx.saved_tensors, strict=True):
            cells = rows * count + filters
            back.view(-1).scatter_add_(0, cells.reshape(-1), own[:, :, None].expand_as(cells).reshape(-1))
        return back, None, None, None
