"""The paper's two networks, implemented plainly: torch's own modules, random batches, padding to the longest sentence.

This is the baseline of `epoch_speed`. Layers, optimisers, batch sizes and loss equal those of our classifiers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from crowdlogic.extensions.networks.network import Training
from crowdlogic.numerics.arrays import Floats, Ints


class PlainKim(nn.Module):
    """Convolutions over fixed word vectors, max-pooling over time and a softmax."""

    def __init__(self, vectors: NDArray[np.float32], n_classes: int, *, windows: tuple[int, ...], filters: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(torch.from_numpy(vectors), freeze=True, padding_idx=0)
        self.convolutions = nn.ModuleList(
            nn.Conv1d(vectors.shape[1], filters, width, padding=max(windows) - 1) for width in windows
        )
        self.dropout = nn.Dropout(0.5)
        self.output = nn.Linear(len(windows) * filters, n_classes)

    def forward(self, rows: Tensor) -> Tensor:
        """Return logits[s, k] of rows[s, t]."""
        words = self.embedding(rows).transpose(1, 2)
        pooled = [torch.relu(convolution(words)).amax(dim=2) for convolution in self.convolutions]
        logits: Tensor = self.output(self.dropout(torch.cat(pooled, dim=1)))
        return logits


class PlainTagger(nn.Module):
    """Convolution and recurrent layer over trained word vectors, and a softmax for each token."""

    def __init__(
        self, vectors: NDArray[np.float32], n_classes: int, *, filters: int, width: int, hidden_size: int
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding.from_pretrained(torch.from_numpy(vectors.copy()), freeze=False, padding_idx=0)
        self.convolution = nn.Conv1d(vectors.shape[1], filters, width, padding="same")
        self.dropout = nn.Dropout(0.5)
        self.gru = nn.GRU(filters, hidden_size, batch_first=True)
        self.output = nn.Linear(hidden_size, n_classes)

    def forward(self, rows: Tensor) -> Tensor:
        """Return logits[s, t, k] of rows[s, t]."""
        answers = torch.relu(self.convolution(self.embedding(rows).transpose(1, 2)))
        logits: Tensor = self.output(self.gru(self.dropout(answers).transpose(1, 2))[0])
        return logits


@dataclass(frozen=True, eq=False)
class PlainData:
    """rows[s, t], padded to the longest sentence, and targets[s, k] or targets[s, t, k], zero for padding."""

    rows: Tensor
    targets: Tensor


def padded_data(rows: Ints, offsets: Ints, targets: Floats, *, tokens: bool) -> PlainData:
    """Return all sentences in one array."""
    lengths = np.diff(offsets)
    real = np.arange(lengths.max()) < lengths[:, None]
    table = np.zeros(real.shape, dtype=np.int64)
    table[real] = rows
    goal = targets.astype(np.float32)
    if tokens:
        goal = np.zeros((*real.shape, targets.shape[1]), dtype=np.float32)
        goal[real] = targets
    return PlainData(torch.from_numpy(table), torch.from_numpy(goal))


def plain_optimiser(network: nn.Module, training: Training) -> torch.optim.Optimizer:
    """Return the optimiser with torch's default implementation, as usual in programs."""
    trained = [parameter for parameter in network.parameters() if parameter.requires_grad]
    if training.optimiser == "adadelta":
        return torch.optim.Adadelta(trained, lr=training.learning_rate, rho=0.95, eps=1e-6)
    return torch.optim.Adam(trained, lr=training.learning_rate)


def plain_epoch(
    network: nn.Module, optimiser: torch.optim.Optimizer, data: PlainData, training: Training, rng: np.random.Generator
) -> float:
    """Train on random batches for one epoch and return the mean loss."""
    network.train()
    lost = 0.0
    order = torch.from_numpy(rng.permutation(len(data.rows)))
    for chosen in order.split(training.batch_size):
        goal = data.targets[chosen]
        loss = -(goal * torch.log_softmax(network(data.rows[chosen]), dim=-1)).sum() / goal.sum()
        optimiser.zero_grad()
        loss.backward()
        if training.clip_norm:
            nn.utils.clip_grad_norm_(network.parameters(), training.clip_norm)
        optimiser.step()
        lost += loss.item() * len(chosen)
    return lost / len(data.rows)


def plain_prediction(network: nn.Module, data: PlainData, batch: int) -> list[Tensor]:
    """Return p of every position, in batches in file order."""
    network.eval()
    with torch.no_grad():
        return [torch.softmax(network(rows), dim=-1) for rows in data.rows.split(batch)]
