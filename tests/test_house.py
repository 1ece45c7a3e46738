"""The house rules of the source tree, checked over its syntax; each check has an example that it refuses."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.tools import plain_english

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "crowdlogic"

VAGUE_NAMES = {"utils", "util", "helpers", "helper", "common", "misc"}
FORBIDDEN_CALLS = {"print", "eval", "exec"}
FORBIDDEN_IMPORTS = {"pickle", "cloudpickle", "dill", "joblib", "marshal", "shelve"}

REPOSITORY_FILES = (
    "*.md",
    "*.toml",
    "*.cff",
    "Makefile",
    ".ci/*",
    "requirements/*",
    "docs/**/*.md",
    "benchmarks/**/*.*",
)
MACHINE_PATH = re.compile(r"(?<![\w.~/$}-])/(?:home|root|work|workspace|mnt|Users|tmp|var)/\w")

Tree = ast.Module


def module_names() -> list[str]:
    return sorted(path.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("*.py"))


@cache
def read_source(module: str) -> str:
    return (PACKAGE / module).read_text(encoding="utf-8")


@cache
def parse_module(module: str) -> Tree:
    return ast.parse(read_source(module))


def find_unformatted(source: str) -> Iterator[str]:
    """Places where formatting is switched off, unless it is at the end of a constant of the module."""
    constants = {node.end_lineno for node in ast.parse(source).body if isinstance(node, ast.Assign | ast.AnnAssign)}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        found = re.search(r"fmt:\s*(\w+)", token.string) if token.type == tokenize.COMMENT else None
        if found and (found[1] != "skip" or token.start[0] not in constants):
            yield f"line {token.start[0]}: {token.string}"


def find_repeated_classes(trees: Iterable[tuple[str, Tree]]) -> dict[str, list[str]]:
    """Public class names that more than one module defines, and these modules."""
    homes = defaultdict(list)
    for module, tree in trees:
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(module)
    return {name: modules for name, modules in homes.items() if len(modules) > 1}


def is_ours(module: str) -> bool:
    """Whether the class names of a module are ours: those in compat are other packages', by design."""
    return not module.startswith("extensions/compat/")


def find_forbidden(tree: Tree) -> Iterator[str]:
    """Assertions, printing, code run from text, and formats that can run code."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield f"line {node.lineno}: assert"
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FORBIDDEN_CALLS:
            yield f"line {node.lineno}: {node.func.id}"
        elif isinstance(node, ast.Import | ast.ImportFrom):
            modules = [getattr(node, "module", None) or "", *(alias.name for alias in node.names)]
            yield from (f"line {node.lineno}: {name}" for name in modules if name.split(".")[0] in FORBIDDEN_IMPORTS)
        elif isinstance(node, ast.keyword) and node.arg == "allow_pickle" and ast.unparse(node.value) != "False":
            yield f"line {node.lineno}: allow_pickle"


def find_machine_paths(text: str) -> list[str]:
    """Lines that name a folder of somebody's machine."""
    return [line.strip() for line in text.splitlines() if MACHINE_PATH.search(line)]


def repository_files() -> list[Path]:
    own = [path for pattern in REPOSITORY_FILES for path in ROOT.glob(pattern)]
    code = [path for folder in ("src", "tests") for path in (ROOT / folder).rglob("*.*")]
    return sorted(path for path in (*own, *code) if path.is_file() and "__pycache__" not in path.parts)


MODULES = module_names()


def test_the_tree_is_found() -> None:
    assert {"registry.py", "learning/algorithm.py", "truth/dawid_skene.py"} <= set(MODULES)


def test_only_constants_are_laid_out_by_hand() -> None:
    assert {name: found for name in MODULES if (found := list(find_unformatted(read_source(name))))} == {}


@pytest.mark.parametrize(
    "source", ["f(1,\n  2)  # fmt: skip\n", "def f():\n    x = (1,\n  2)  # fmt: skip\n", "# fmt: off\nX = 1\n"]
)
def test_a_call_laid_out_by_hand_is_found(source: str) -> None:
    assert len(list(find_unformatted(source))) == 1
    assert list(find_unformatted("X = (1,\n  2)  # fmt: skip\n")) == []


def test_a_public_class_name_means_one_thing() -> None:
    assert find_repeated_classes((name, parse_module(name)) for name in MODULES if is_ours(name)) == {}


def test_a_class_name_that_means_two_things_is_found() -> None:
    trees = [("a.py", ast.parse("class Entry: pass")), ("b.py", ast.parse("class Entry: pass\nclass _Row: pass"))]

    assert find_repeated_classes([*trees, ("c.py", ast.parse("class _Row: pass"))]) == {"Entry": ["a.py", "b.py"]}


def test_every_module_is_named_for_what_it_holds() -> None:
    assert [name for name in MODULES if set(Path(name).with_suffix("").parts) & VAGUE_NAMES] == []


def test_a_vague_name_is_found() -> None:
    assert set(Path("data/utils.py").with_suffix("").parts) & VAGUE_NAMES == {"utils"}


def test_nothing_asserts_prints_or_runs_text() -> None:
    assert {name: found for name in MODULES if (found := list(find_forbidden(parse_module(name))))} == {}


@pytest.mark.parametrize(
    "source",
    [
        "assert x",
        "print(1)",
        "eval('1')",
        "exec('1')",
        "import pickle",
        "import dill.source",
        "from pickle import loads",
        "np.load(f, allow_pickle=True)",
    ],
)
def test_what_is_forbidden_is_found(source: str) -> None:
    assert len(list(find_forbidden(ast.parse(source)))) == 1
    assert list(find_forbidden(ast.parse("console.print(1)\nmodel.eval()\nnp.load(f, allow_pickle=False)"))) == []


def test_no_file_names_a_folder_of_a_machine() -> None:
    found = {
        path: find_machine_paths(path.read_text(encoding="utf-8", errors="replace")) for path in repository_files()
    }

    assert {str(path): lines for path, lines in found.items() if lines} == {}


def test_a_folder_of_a_machine_is_found() -> None:
    secret = "/".join(["", "home", "anna", "data"])

    assert find_machine_paths(f"ROOT = '{secret}'") == [f"ROOT = '{secret}'"]
    assert find_machine_paths("docs/tmp/x, $HOME/x, example.org/home/x") == []


NETWORK_AND_PROCESSES = {
    "asyncio", "ftplib", "http", "multiprocessing", "requests", "smtplib", "socket", "socketserver", "ssl", "subprocess", "telnetlib",
    "urllib", "webbrowser", "xmlrpc",
}  # fmt: skip
STARTERS = ("system", "popen", "fork", "forkpty", "exec", "spawn", "posix_spawn", "startfile")
"""What starts a process, by the beginnings of names in `os`."""


def find_connections(tree: Tree) -> Iterator[str]:
    """Where a module could open a socket or start a process."""
    for node in ast.walk(tree):
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) and not node.level else []
        if any(name.partition(".")[0] in NETWORK_AND_PROCESSES for name in names):
            yield f"line {node.lineno}: imports {', '.join(names)}"
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "os" and node.attr.startswith(STARTERS):
            yield f"line {node.lineno}: os.{node.attr}"


def test_no_module_of_the_core_opens_a_socket_or_starts_a_process() -> None:
    core = [name for name in module_names() if not name.startswith("extensions/")]

    found = {name: lines for name in core if (lines := list(find_connections(parse_module(name))))}

    assert len(core) > 100
    assert list(found) == [
        "reporting/figures.py"
    ]  # starts a browser that draws the figures of a report, where asked to


@pytest.mark.parametrize(
    "source",
    ["import socket", "import urllib.request", "from subprocess import run", "os.system('x')", "os.execvp(a, b)"],
)
def test_what_could_connect_or_start_is_found(source: str) -> None:
    assert list(find_connections(ast.parse(source)))


def test_phrases_that_readers_stumble_over_do_not_come_back(capsys: pytest.CaptureFixture[str]) -> None:
    assert plain_english.main() == 0, capsys.readouterr().out
    assert [phrase for _, phrase, _ in plain_english.find_relapses("it was foretold\nand fitted anew")] == [
        "foretold",
        "anew",
    ]
