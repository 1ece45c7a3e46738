"""What users import: quick, complete, and known to type checkers and to tab completion."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from rlcompleter import Completer

import pytest

import crowdlogic
from crowdlogic.registry import read_stub

SOURCE = Path(crowdlogic.__file__).parent
STUBS = sorted(SOURCE.rglob("__init__.pyi"))
PACKAGES = {".".join(("crowdlogic", *stub.parent.relative_to(SOURCE).parts)): stub for stub in STUBS}


@pytest.mark.parametrize(
    ("words", "absent"),
    [
        ("import crowdlogic", {"numpy", "polars", "numba", "scipy", "sklearn", "torch", "typer", "rich"}),
        ("import crowdlogic.truth, crowdlogic.rules, crowdlogic.learning", {"numpy", "polars", "scipy", "lark"}),
        ("from crowdlogic import DawidSkene, read_labels", {"numba", "scipy.stats", "sklearn", "torch", "lark"}),
    ],
)
def test_what_an_import_does_not_load(words: str, absent: set[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-c", f"{words}; import sys; print(*sys.modules)"], capture_output=True, text=True, check=True
    )

    assert not absent & set(done.stdout.split())


def test_a_small_fit_does_not_load_the_compiler() -> None:
    code = (
        "from crowdlogic.truth import DawidSkene, IBCC, GLAD, MACE, EBCC, HMMCrowd;"
        "from crowdlogic.data import from_matrix, from_sequences;"
        "labels = from_matrix([[0, 1, 0], [1, 1, 1], [0, 0, 1]]);"
        "[method.infer(labels) for method in (DawidSkene(), IBCC(), GLAD(), MACE(), EBCC())];"
        "HMMCrowd().infer(from_sequences([(0, 0, ['O', 'B-X']), (0, 1, ['O', 'O'])]));"
        "import sys; print('numba' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"


def test_these_packages_have_a_list_of_public_names() -> None:
    assert {"crowdlogic", *(f"crowdlogic.{name}" for name in NAMESPACES)} <= set(PACKAGES)


NAMESPACES = ("classifiers", "data", "learning", "metrics", "rules", "truth")


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_can_be_imported_and_is_listed(package: str) -> None:
    module = import_module(package)

    for name, place in read_stub(PACKAGES[package]).items():
        found = getattr(module, name)
        assert found is (sys.modules[f"{place}.{name}"] if place == package else getattr(import_module(place), name))
        assert name in dir(module)
    assert module.__all__ == sorted(read_stub(PACKAGES[package]))


@pytest.mark.parametrize("package", PACKAGES)
def test_no_public_name_is_also_the_name_of_a_submodule(package: str) -> None:
    folder = PACKAGES[package].parent
    submodules = {path.stem for path in folder.glob("*.py")} | {
        path.parent.name for path in folder.glob("*/__init__.py")
    }

    clashes = {name for name, place in read_stub(PACKAGES[package]).items() if name in submodules and place != package}

    assert not clashes, "an import of the submodule would hide the name"


def test_the_top_level_has_about_thirty_names_and_none_of_an_extension() -> None:
    places = read_stub(PACKAGES["crowdlogic"])
    names = {name for name, place in places.items() if place != "crowdlogic"}

    assert len(names) <= 35
    assert {"aggregate", "train", "report", "read_labels", "from_frame", "DawidSkene", "LogicLNCL", "load_run"} <= names
    assert not [place for place in places.values() if place.startswith("crowdlogic.extensions")]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_stub_holds_nothing_but_exports(package: str) -> None:
    """A type checker exports `import x as x` only; anything else in a stub would be unknown at run time."""
    nodes = ast.parse(PACKAGES[package].read_text()).body

    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            assert all(alias.asname == alias.name for alias in node.names), ast.unparse(node)
        else:
            assert ast.unparse(node).partition(":")[0] in ("__version__", "ENTRIES", "COMMANDS")


@pytest.mark.parametrize("name", NAMESPACES)
def test_what_a_package_lists_is_its_own(name: str) -> None:
    places = read_stub(PACKAGES[f"crowdlogic.{name}"])

    assert {place.split(".")[1] for place in places.values()} == {name}


def test_names_that_users_reach_for() -> None:
    from crowdlogic import Vocabulary, agreement, errors
    from crowdlogic.errors import OptionError
    from crowdlogic.truth import DawidSkene

    assert OptionError is errors.OptionError
    assert DawidSkene is crowdlogic.DawidSkene is crowdlogic.truth.DawidSkene
    assert callable(agreement)
    assert Vocabulary.__module__ == "crowdlogic.rules.predicates.vocabulary"
    assert {"DawidSkene", "LogicLNCL", "errors", "__version__"} <= set(dir(crowdlogic))


def test_tab_completion_offers_the_methods() -> None:
    completer = Completer({"crowdlogic": crowdlogic})

    offered = [completer.complete("crowdlogic.truth.Dawid", 0), completer.complete("crowdlogic.LogicL", 0)]

    assert [str(text).rstrip("(") for text in offered] == ["crowdlogic.truth.DawidSkene", "crowdlogic.LogicLNCL"]


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match=r"module 'crowdlogic\.truth' has no attribute 'Nothing'"):
        crowdlogic.truth.Nothing  # noqa: B018
