"""Recognise models that users give: a `torch.nn.Module`, and a folder that Hugging Face's `save_pretrained` wrote."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def adapt_module(given: Any) -> Any:
    """Return the classifier around a `torch.nn.Module`; None for anything else. torch is not imported to find out."""
    if not any(kind.__module__.startswith("torch.nn.") for kind in type(given).__mro__):
        return None
    from crowdlogic.extensions.networks.module import Module

    return Module(given)


def adapt_folder(given: Any) -> Any:
    """Return the transformer of a folder with a config.json; None for anything else."""
    if not isinstance(given, str | Path) or not (Path(given) / "config.json").is_file():
        return None
    from crowdlogic.extensions.networks.transformer import Transformer

    return Transformer(folder=given)
