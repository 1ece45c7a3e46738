"""Cost of training each network; None where a network does not apply.

Measured on the 4,999 reviews and 5,985 sentences of the paper. torch is not imported.
"""

from __future__ import annotations

from crowdlogic.learning.choice import Cost, Workload

MIN_ITEMS = 1_000
"""Networks that start from random weights need at least this many items to beat a linear model."""


def kim_cnn_cost(work: Workload) -> Cost | None:
    """Return the cost of Kim-CNN, for documents with texts."""
    return None if work.sequential or not work.tokens or work.items < MIN_ITEMS else Cost(1.5e-5 * work.tokens)


def cnn_gru_cost(work: Workload) -> Cost | None:
    """Return the cost of the CNN-GRU, for sentences."""
    return None if not work.sequential or work.items < MIN_ITEMS else Cost(3.2e-5 * work.tokens)


def bilstm_crf_cost(work: Workload) -> Cost | None:
    """Return the cost of the BiLSTM-CRF, for sentences."""
    return None if not work.sequential or work.items < MIN_ITEMS else Cost(4.2e-5 * work.tokens)


def mlp_cost(work: Workload) -> Cost | None:
    """Return the cost of the multilayer perceptron, for numeric features."""
    return None if not work.features or work.items < MIN_ITEMS else Cost(1e-7 * work.items * work.features)


def transformer_cost(work: Workload) -> Cost | None:
    """Return the cost of the packaged encoder, for documents with texts. Includes cross-fitting."""
    return None if work.sequential or not work.tokens or work.items < MIN_ITEMS else Cost(6e-4 * work.tokens, epochs=7)
