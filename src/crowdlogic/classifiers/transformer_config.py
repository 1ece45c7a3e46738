"""The configuration of a transformer as a run keeps it: what may be in it, and how it is loaded without a network.

A run may come from a stranger, and transformers makes of a configuration whatever it says: it fetches a backbone by
its name, or the code of an attention kernel. So only text encoders are loaded, with options that their own
configuration has, of the types that they have there, and sizes that the saved weights have; and nothing is fetched
while loading.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from crowdlogic.errors import FormatError

MODEL_TYPES = (
    "albert", "bert", "camembert", "convbert", "deberta", "deberta-v2", "distilbert", "electra", "ernie", "eurobert",
    "funnel", "mobilebert", "modernbert", "mpnet", "nomic_bert", "roberta", "roberta-prelayernorm", "roformer",
    "squeezebert", "xlm", "xlm-roberta", "xlm-roberta-xl",
)  # fmt: skip
"""Encoders of text, none of which is made of another model."""

LEFT_OUT = ("architectures", "dtype", "id2label", "label2id", "problem_type", "transformers_version", "torch_dtype")
"""Options that say nothing about how hidden states are computed."""

LARGEST = 10_000_000
"""No size of a transformer is larger."""

MOST_LAYERS = 1000

ATTENTIONS = ("sdpa", "eager")
"""How attention is computed: by torch's own function, else by plain products. No other kernel is looked for."""


def known_options(config: Mapping[str, Any], auto: Any) -> dict[str, Any]:
    """The options of a configuration that are kept with a run."""
    default = _default_options(str(config.get("model_type")), auto)
    return {name: value for name, value in config.items() if name in default and name not in LEFT_OUT}


def check_options(config: Mapping[str, Any], auto: Any) -> dict[str, Any]:
    """The options of a saved configuration, if a text encoder has them.

    Args:
        config: What the run holds.
        auto: The package transformers.
    """
    default = _default_options(str(config.get("model_type")), auto)
    for name, value in config.items():
        if name not in default or name in LEFT_OUT:
            raise FormatError(f"These arrays are not of a transformer: its configuration has {name!r:.80}.")
        if not _is_like(value, default[name]):
            raise FormatError(f"These arrays are not of a transformer: its {name} is {value!r:.80}.")
    if int(config.get("num_hidden_layers", 1)) > MOST_LAYERS:
        raise FormatError(f"These arrays are not of a transformer: it has more than {MOST_LAYERS:,} layers.")
    return dict(config)


def _default_options(model_type: str, auto: Any) -> dict[str, Any]:
    if model_type not in MODEL_TYPES:
        raise FormatError(
            f"{model_type!r:.80} is no transformer that crowdlogic uses. Use one of {', '.join(MODEL_TYPES)}."
        )
    found: dict[str, Any] = auto.AutoConfig.for_model(model_type).to_dict()
    return {name: value for name, value in found.items() if not name.startswith("_")}


def _is_like(value: Any, default: Any) -> bool:
    """Whether a value may stand in the place of a default: a plain one, of its type where that is known."""
    if isinstance(value, dict):
        return isinstance(default, dict) and len(value) < 100 and all(_is_plain(one) for one in value.values())
    if isinstance(value, list):
        return isinstance(default, list | None) and len(value) <= MOST_LAYERS and all(_is_scalar(one) for one in value)
    if default is None or value is None:
        return _is_scalar(value)
    numbers = isinstance(value, int | float) and isinstance(default, int | float)
    return _is_scalar(value) and (type(value) is type(default) or (numbers and not isinstance(value, bool)))


def _is_plain(value: Any) -> bool:
    return _is_scalar(value) or (isinstance(value, dict) and len(value) < 100 and all(map(_is_scalar, value.values())))


def _is_scalar(value: Any) -> bool:
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, int | float):
        return abs(value) <= LARGEST
    # a name such as gelu, and never one of the hub's, which have a slash
    return isinstance(value, str) and len(value) < 100 and not set(value) & set("/\\:@")


def with_attention(make: Callable[[str], Any]) -> Any:
    """What `make` makes with the first way to compute attention that the model has."""
    try:
        return make(ATTENTIONS[0])
    except (ValueError, ImportError):
        return make(ATTENTIONS[1])


@contextmanager
def offline() -> Iterator[None]:
    """Keep transformers and its hub from the network within the context."""
    before = os.environ.get("HF_HUB_OFFLINE")
    os.environ["HF_HUB_OFFLINE"] = "1"
    from huggingface_hub import constants, is_offline_mode

    places = [vars(constants), getattr(is_offline_mode, "__globals__", {})]
    values = [place.get("HF_HUB_OFFLINE") for place in places]
    try:
        for place in places:
            place["HF_HUB_OFFLINE"] = True
        yield
    finally:
        for place, value in zip(places, values, strict=True):
            place["HF_HUB_OFFLINE"] = value
        os.environ.pop("HF_HUB_OFFLINE")
        if before is not None:
            os.environ["HF_HUB_OFFLINE"] = before
