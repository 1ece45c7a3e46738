"""Architectures by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from crowdlogic.errors import MissingExtraError, OptionError
from crowdlogic.registry import CLASSIFIERS

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")


def test_every_architecture_has_its_name() -> None:
    assert all(CLASSIFIERS.load(name).name == name for name in CLASSIFIERS)


@pytest.mark.extension("networks")
def test_a_name_that_is_unknown_is_refused_with_the_nearest() -> None:
    with pytest.raises(OptionError) as caught:
        CLASSIFIERS.load("kim_cnn")

    assert str(caught.value) == (
        "No classifier is called 'kim_cnn'. Did you mean 'kim-cnn'? "
        "There are linear, crf, scikit, prior, kim-cnn, cnn-gru, bilstm-crf, mlp, transformer."
    )


@pytest.mark.extension("networks")
def test_without_torch_its_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [
        name for name in sys.modules if name.startswith(("crowdlogic.classifiers.", "crowdlogic.extensions.networks."))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "torch", None)

    with pytest.raises(MissingExtraError) as caught:
        CLASSIFIERS.load("cnn-gru")

    assert str(caught.value) == (
        "cnn-gru needs the package torch, which is not installed: pip install crowdlogic[torch]"
    )


@pytest.mark.extension("networks")
def test_nothing_heavy_is_imported_before_it_is_asked_for() -> None:
    program = (
        "import sys, crowdlogic.registry as c\n"
        "assert not {'torch', 'sklearn', 'transformers'} & set(sys.modules), 'on import'\n"
        "c.CLASSIFIERS.load('linear')()\n"
        "assert 'torch' not in sys.modules, 'for linear'\n"
        "c.CLASSIFIERS.load('scikit')()\n"
        "assert 'torch' not in sys.modules, 'for scikit'\n"
        "c.CLASSIFIERS.load('kim-cnn')()\n"
        "assert 'transformers' not in sys.modules\n"
    )

    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)

    assert done.stderr == ""
