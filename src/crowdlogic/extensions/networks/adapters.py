"""Adapters for user-defined models: a `torch.nn.Module`, or a folder written by Hugging Face's `save_pretrained`."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def adapt_module(given: Any) -> Any:
    """Return a classifier that wraps a `torch.nn.Module`; None for other objects, without importing torch."""
    if not any(kind.__module__.startswith("torch.nn.") for kind in type(given).__mro__):
        return None
    from crowdlogic.extensions.networks.module import Module

    return Module(given)


def adapt_folder(given: Any) -> Any:
    """Return a transformer for a folder with a config.json; None for other objects."""
    if not isinstance(given, str | Path) or not (Path(given) / "config.json").is_file():
        return None
    from crowdlogic.extensions.networks.transformer import Transformer

    return Transformer(folder=given)
