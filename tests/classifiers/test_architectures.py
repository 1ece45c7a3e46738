"""Architectures by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from crowdlogic.classifiers import ARCHITECTURES, architecture_class
from crowdlogic.errors import MissingExtraError, OptionError

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")


def test_every_architecture_has_its_name() -> None:
    assert all(architecture_class(name).name == name for name in ARCHITECTURES)


def test_a_name_that_is_unknown_is_refused_with_the_nearest() -> None:
    with pytest.raises(OptionError) as caught:
        architecture_class("kim_cnn")

    assert str(caught.value) == (
        "No classifier is called 'kim_cnn'. Did you mean 'kim-cnn'? "
        "There are: linear, crf, kim-cnn, cnn-gru, mlp, scikit, transformer, prior."
    )


def test_without_torch_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("crowdlogic.classifiers.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)

    with pytest.raises(MissingExtraError) as caught:
        architecture_class("cnn-gru")

    assert str(caught.value) == (
        "cnn-gru needs the package torch, which is not installed: pip install crowdlogic[torch]"
    )


def test_nothing_heavy_is_imported_before_it_is_asked_for() -> None:
    program = (
        "import sys, crowdlogic.classifiers as c\n"
        "assert not {'torch', 'sklearn', 'transformers'} & set(sys.modules), 'on import'\n"
        "c.architecture_class('linear')()\n"
        "assert 'torch' not in sys.modules, 'for linear'\n"
        "c.architecture_class('scikit')()\n"
        "assert 'torch' not in sys.modules, 'for scikit'\n"
        "c.architecture_class('kim-cnn')()\n"
        "assert 'transformers' not in sys.modules\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert done.stderr == ""
