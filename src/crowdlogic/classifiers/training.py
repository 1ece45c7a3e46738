"""How a network is trained. Hyper-parameters only, so that they can be read and written without torch."""

from __future__ import annotations

import math
from dataclasses import dataclass

from crowdlogic.errors import OptionError

OPTIMISERS = ("adam", "adamw", "adadelta")


@dataclass(frozen=True)
class Training:
    """The optimiser of a network and its hyper-parameters.

    Attributes:
        optimiser: adam, adamw or adadelta.
        learning_rate: The learning rate of the first epoch.
        halve_every: Number of epochs after which the learning rate is halved, repeatedly; 0 keeps it constant.
        batch_size: Number of sequences (or documents, or rows of features) in a mini-batch.
        batch_tokens: Maximum number of tokens in a mini-batch, padding included: long sequences make smaller batches,
            and so more steps of an epoch. 0 for any number.
        clip_norm: Maximum norm of the gradient; 0 does not clip.
        weight_decay: Weight decay.
        label_smoothing: Share of every target that is spread evenly over all classes, from 0 to below 1. It bounds how
            confident a network becomes, and so how far it can outvote the annotators.
        device: auto (a GPU if torch finds one), cpu, cuda, ...
    """

    optimiser: str = "adam"
    learning_rate: float = 1e-3
    halve_every: int = 0
    batch_size: int = 50
    batch_tokens: int = 0
    clip_norm: float = 0.0
    weight_decay: float = 0.0
    label_smoothing: float = 0.0
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.optimiser not in OPTIMISERS:
            raise OptionError(f"optimiser: {self.optimiser!r} is none of {', '.join(OPTIMISERS)}.")
        if self.batch_size < 1 or not 0 < self.learning_rate < math.inf:
            raise OptionError(
                f"batch_size must be 1 or more and learning_rate more than 0, not {self.batch_size} and "
                f"{self.learning_rate}."
            )
        for name in ("halve_every", "batch_tokens", "clip_norm", "weight_decay"):
            if not 0 <= getattr(self, name) < math.inf:
                raise OptionError(f"{name} must be 0 or more, not {getattr(self, name)}.")

        if not 0 <= self.label_smoothing < 1:
            raise OptionError(f"label_smoothing must lie from 0 to below 1, not {self.label_smoothing}.")

    def learning_rate_at(self, epoch: int) -> float:
        """The learning rate of an epoch, counted from 0."""
        return self.learning_rate * 0.5 ** (epoch // self.halve_every if self.halve_every else 0)
