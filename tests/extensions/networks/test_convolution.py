"""Filters that slide over words, by the products of different words."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.extensions.networks.kim_cnn import Filters  # noqa: E402


def slow_answers(filters: Filters, words: torch.Tensor) -> list[torch.Tensor]:
    """answers[s, t, f] of words[s, t, d], by width, from torch's convolution."""
    answers = []
    weights = filters.weight.split([width * filters.count for width in filters.windows])
    for width, weight, bias in zip(filters.windows, weights, filters.bias.split(filters.count), strict=True):
        kernel = weight.view(width, filters.count, -1).permute(1, 2, 0)
        answers.append(torch.nn.functional.conv1d(words.transpose(1, 2), kernel, bias).transpose(1, 2))
    return answers


def prepared(windows: tuple[int, ...]) -> tuple[Filters, torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return Filters(windows, 3, 4), torch.randn(6, 4, requires_grad=True), torch.randint(0, 6, (5, 9))


@pytest.mark.parametrize("width", [1, 2, 5])
def test_answers_and_gradients_everywhere_are_those_of_a_convolution(width: int) -> None:
    filters, vectors, place = prepared((width,))
    (slow,) = slow_answers(filters, vectors[place])
    expected = torch.autograd.grad(slow.square().sum(), (vectors, filters.weight, filters.bias))

    quick = filters.convolve(filters.table(vectors), place)
    found = torch.autograd.grad(quick.square().sum(), (vectors, filters.weight, filters.bias))

    np.testing.assert_allclose(quick.detach(), slow.detach(), rtol=0, atol=1e-5)
    for own, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-4)


@pytest.mark.parametrize("windows", [(3, 4, 5), (2,), (5, 1)])
def test_greatest_answers_and_their_gradients_are_those_of_a_convolution(windows: tuple[int, ...]) -> None:
    filters, vectors, place = prepared(windows)
    lengths = torch.tensor([9, 5, 6, 7, 9])
    slow = torch.cat(
        [
            torch.stack([answer[s, : length - width + 1].amax(dim=0) for s, length in enumerate(lengths.tolist())])
            for width, answer in zip(windows, slow_answers(filters, vectors[place]), strict=True)
        ],
        dim=1,
    )
    expected = torch.autograd.grad(slow.square().sum(), (vectors, filters.weight, filters.bias))

    quick = filters.max_pool(filters.table(vectors), place, lengths)
    found = torch.autograd.grad(quick.square().sum(), (vectors, filters.weight, filters.bias))

    np.testing.assert_allclose(quick.detach(), slow.detach(), rtol=0, atol=1e-5)
    for own, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(own, other, rtol=0, atol=1e-4)


def test_nothing_is_the_answer_where_no_filter_fits() -> None:
    filters, vectors, place = prepared((1, 4))

    found = filters.max_pool(filters.table(vectors), place, torch.tensor([9, 3, 0, 4, 1]))

    finite = torch.isfinite(found.detach()).view(5, 2, 3)
    np.testing.assert_array_equal(finite[:, 0].all(dim=1), [True, True, False, True, True])
    np.testing.assert_array_equal(finite[:, 1].all(dim=1), [True, False, False, True, False])
