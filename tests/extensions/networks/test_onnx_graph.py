from __future__ import annotations

import numpy as np
import onnxruntime
import pytest

from crowdlogic.errors import OptionError
from crowdlogic.extensions.networks.onnx import OUTPUT, GraphBuilder, numbers_graph, weight, word_vectors


def test_a_graph_of_numbers_is_a_matrix_product() -> None:
    rng = np.random.default_rng(0)
    weights, bias, features = rng.normal(size=(3, 2)), rng.normal(size=2), rng.normal(size=(5, 3)).astype(np.float32)

    session = onnxruntime.InferenceSession(numbers_graph(weights, bias).SerializeToString())

    np.testing.assert_allclose(session.run([OUTPUT], {"features": features})[0], features @ weights + bias, rtol=1e-4)


def test_a_tensor_is_found_whether_it_was_trained_or_not() -> None:
    arrays = {"model.embedding.own": np.ones((2, 2)), "fixed.model.embedding.rest": np.zeros((1, 2))}

    assert word_vectors(arrays).tolist() == [[1, 1], [1, 1], [0, 0]]
    with pytest.raises(OptionError, match=r"has no output\.weight"):
        weight(arrays, "output.weight")


def test_a_table_that_is_too_large_is_refused() -> None:
    huge = np.lib.stride_tricks.as_strided(np.zeros(1), shape=(2**15, 2**14), strides=(0, 0))

    with pytest.raises(OptionError, match="too many for an ONNX file"):
        GraphBuilder().constant("weights", huge)
