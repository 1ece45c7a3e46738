"""Dropout by random bytes, and word vectors of which some are trained."""

from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.extensions.networks.network import ByteDropout, WordEmbedding  # noqa: E402


@pytest.mark.parametrize("share", [0.1, 0.5, 0.75, 0.999])
def test_a_share_is_left_out_and_the_mean_is_kept(share: float) -> None:
    dropout = ByteDropout(share)
    exact = min(round(share * 256), 255) / 256
    torch.manual_seed(0)

    out = dropout(torch.ones(1000, 333)).numpy()

    assert set(np.unique(out)) == {0.0, np.float32(1 / (1 - exact))}
    np.testing.assert_allclose((out == 0).mean(), share, atol=0.005)
    np.testing.assert_allclose(out.mean(), 1.0, atol=5 / np.sqrt(out.size * (1 - exact)) * 2)


def test_places_are_left_out_independently() -> None:
    torch.manual_seed(0)

    kept = ByteDropout(0.5)(torch.ones(4000, 24)).numpy() > 0

    correlation = np.corrcoef(kept.T.astype(float)) - np.eye(24)
    assert np.abs(correlation).max() < 0.07
    assert np.abs(kept[1:].mean(axis=0) - 0.5).max() < 0.05


def test_what_is_left_out_has_no_gradient_and_the_rest_is_scaled() -> None:
    torch.manual_seed(0)
    x = torch.ones(50, requires_grad=True)

    out = ByteDropout(0.5)(x)
    out.sum().backward()

    np.testing.assert_array_equal(x.grad, out.detach())


@pytest.mark.parametrize(("share", "training"), [(0.5, False), (0.0, True)])
def test_all_is_kept_when_not_training_or_when_nothing_is_left_out(share: float, training: bool) -> None:
    x = torch.ones(7)

    assert ByteDropout(share).train(training)(x) is x


@pytest.mark.parametrize("tuned", [True, False])
def test_vectors_are_those_of_the_rows_own_or_not(tuned: bool) -> None:
    vectors = np.random.default_rng(0).normal(size=(7, 3)).astype(np.float32)
    embedding = WordEmbedding(vectors[:4], vectors[4:], trained=tuned)
    rows = torch.tensor([[1, 6, 4], [3, 2, 5]])

    found = embedding(rows)

    np.testing.assert_array_equal(found.detach().numpy(), vectors[rows.numpy()])
    np.testing.assert_array_equal(embedding(torch.tensor([3, 1])).detach().numpy(), vectors[[3, 1]])


def test_no_gradient_reaches_padding_nor_words_that_are_not_own() -> None:
    vectors = np.ones((5, 2), dtype=np.float32)
    embedding = WordEmbedding(vectors[:3], vectors[3:], trained=True)

    embedding(torch.tensor([0, 0, 1, 4, 2, 2])).sum().backward()

    np.testing.assert_array_equal(embedding.own.grad, [[0, 0], [1, 1], [2, 2]])


def test_an_embedding_does_not_write_into_the_vectors_it_was_given() -> None:
    vectors = np.ones((4, 2), dtype=np.float32)
    vectors.flags.writeable = False
    embedding = WordEmbedding(vectors[:3], vectors[3:], trained=True)

    with torch.no_grad():
        embedding.own.add_(1.0)

    np.testing.assert_array_equal(vectors, 1.0)
