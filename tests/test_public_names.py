"""Public names from a stub, imported when they are first used."""

from __future__ import annotations

import ast
import sys
from importlib import import_module
from pathlib import Path

import pytest

import crowdlogic
from crowdlogic.registry import read_stub

INIT = (
    "from crowdlogic.registry import lazy_exports\n\n__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)\n"
)
STUB = "from {0} import part as part\nfrom {0}.part import first as first\nfrom {0}.part import second as second\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A package whose only module writes down that it was imported."""
    name = f"exporting_{tmp_path.name}"
    folder = tmp_path / name
    folder.mkdir()
    (folder / "__init__.py").write_text(INIT)
    (folder / "__init__.pyi").write_text(STUB.format(name))
    (folder / "part.py").write_text("first, second = object(), object()\n")
    monkeypatch.syspath_prepend(tmp_path)
    return name


def test_a_stub_is_read_as_names_and_their_modules(tmp_path: Path) -> None:
    stub = tmp_path / "s.pyi"
    stub.write_text(f"{STUB.format('p')}\n__version__: str\n")

    assert read_stub(stub) == {"part": "p", "first": "p.part", "second": "p.part"}


@pytest.mark.parametrize("stub", sorted(Path(crowdlogic.__file__).parent.rglob("__init__.pyi")), ids=str)
def test_every_stub_has_one_name_a_line_as_python_itself_reads_it(stub: Path) -> None:
    imports = [node for node in ast.parse(stub.read_text()).body if isinstance(node, ast.ImportFrom)]

    assert read_stub(stub) == {alias.name: node.module for node in imports for alias in node.names}


def test_a_module_is_imported_when_a_name_of_it_is_first_used(package: str) -> None:
    found = import_module(package)

    assert f"{package}.part" not in sys.modules
    assert found.__all__ == ["first", "part", "second"]
    assert set(found.__all__) <= set(dir(found))
    assert found.first is sys.modules[f"{package}.part"].first
    assert found.part is sys.modules[f"{package}.part"]
    assert "first" in vars(found)  # it is asked for once only


def test_a_name_that_the_stub_does_not_have_is_no_attribute(package: str) -> None:
    found = import_module(package)

    with pytest.raises(AttributeError) as refused:
        _ = found.zzz

    assert str(refused.value) == f"module '{package}' has no attribute 'zzz'. dir({package}) lists what is there."
    with pytest.raises(AttributeError, match=r"has no attribute '_zzz'$"):
        _ = found._zzz  # asked for by tools


def test_a_name_that_sounds_like_one_is_answered_with_it_and_the_way_to_it(package: str, tmp_path: Path) -> None:
    below = tmp_path / package / "below"
    below.mkdir()
    (below / "__init__.pyi").write_text(f"from {package}.below.deep import Report as Report\n")
    found = import_module(package)

    said = {}
    for name in ("firsts", "SECOND", "Report", "report", "rep"):
        with pytest.raises(AttributeError) as refused:
            getattr(found, name)
        said[name] = str(refused.value).partition(". ")[2]

    assert said == {
        "firsts": f"Did you mean {package}.first?",
        "SECOND": f"Did you mean {package}.second?",
        "Report": f"It is {package}.below.Report.",
        "report": f"Did you mean {package}.below.Report?",
        "rep": f"Did you mean {package}.below.Report?",
    }


@pytest.mark.extension("compat")
def test_a_name_that_moved_to_a_submodule_is_found_there() -> None:
    for name, place in {"KimCNN": "extensions.networks", "TwoStage": "learning", "from_matrix": "data"}.items():
        with pytest.raises(AttributeError, match=rf"It is crowdlogic\.{place}\.{name}\.$"):
            getattr(crowdlogic, name)
