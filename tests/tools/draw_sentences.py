"""Draw sentences for a reading test: `python -m tests.tools.draw_sentences --seed N`.

Print 60 docstrings, 60 error messages, 40 help lines and 10 pages of the documentation, drawn at random. A reader who
does not know the project then marks every sentence that needs a second reading; at most 3 % should be marked. Name
folders or files after the options to draw from these only, such as `src/crowdlogic/reporting docs/how-to`.
"""

from __future__ import annotations

import argparse
import ast
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SIZES = {"docstrings": 60, "errors": 60, "help": 40, "pages": 10}
COMMAND_FOLDERS = ("cli", "extensions")


@dataclass(frozen=True)
class Sentence:
    """A text that people read, with its file and line."""

    kind: str
    place: str
    text: str


def read_sentences(path: Path) -> Iterator[Sentence]:
    """Yield the docstrings, error messages and help texts of a Python module."""
    shown = path.relative_to(ROOT)
    tree = ast.parse(path.read_text(encoding="utf-8"))
    body_of = {id(node.body[0]): node for node in ast.walk(tree) if isinstance(node, _DOCUMENTED) and node.body}
    for node in ast.walk(tree):
        found: list[tuple[str, str]] = []
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            # The docstring of a module, class or function, or a string below a constant
            owner = body_of.get(id(node))
            is_command = isinstance(owner, ast.FunctionDef) and owner.name == "command" and _has_commands(path)
            found.append(("help" if is_command else "docstrings", node.value.value))
        elif isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args:
            found.append(("errors", render(node.exc.args[0])))
        elif isinstance(node, ast.keyword) and node.arg == "help":
            found.append(("help", render(node.value)))
        for kind, text in found:
            if text.strip():
                yield Sentence(
                    kind, f"{shown}:{node.value.lineno if isinstance(node, ast.Expr) else _line(node)}", text
                )


_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef)


def _has_commands(path: Path) -> bool:
    return any(folder in path.parts for folder in COMMAND_FOLDERS)


def _line(node: ast.AST) -> int:
    return node.value.lineno if isinstance(node, ast.keyword) else getattr(node, "lineno", 0)


def render(node: ast.expr) -> str:
    """Return a string expression as text, with `{...}` for what is filled in; empty if it is not a string."""
    match node:
        case ast.Constant(value=str() as text):
            return text
        case ast.JoinedStr(values=values):
            return "".join(render(value) for value in values)
        case ast.FormattedValue(value=value):
            return f"{{{ast.unparse(value)}}}"
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return render(left) + render(right)
        case _:
            return ""


def list_sentences(places: Sequence[Path]) -> list[Sentence]:
    """Return all docstrings, error messages, help texts and documentation pages below some places."""
    files = sorted({path for place in places for path in (place.rglob("*") if place.is_dir() else [place])})
    found: list[Sentence] = []
    for path in files:
        if path.suffix == ".py":
            found += read_sentences(path)
        elif path.suffix == ".md":
            found.append(Sentence("pages", str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")))
    return found


def draw(sentences: Sequence[Sentence], seed: int) -> Iterator[Sentence]:
    """Yield a random sample of each kind, as many as SIZES says."""
    for kind, size in SIZES.items():
        of_kind = [sentence for sentence in sentences if sentence.kind == kind]
        yield from random.Random(f"{seed} {kind}").sample(of_kind, min(size, len(of_kind)))


def main() -> None:
    """Print a sample."""
    parser = argparse.ArgumentParser(description="Draw sentences for a reading test.")
    parser.add_argument("--seed", type=int, required=True, help="random seed")
    parser.add_argument("--titles", action="store_true", help="print only the names of the pages")
    parser.add_argument("places", nargs="*", default=["src/crowdlogic", "docs", "README.md"], help="where to draw from")
    options = parser.parse_args()
    sentences = list_sentences([ROOT / place for place in options.places])
    for sentence in draw(sentences, options.seed):
        text = "(read the page)" if sentence.kind == "pages" and options.titles else sentence.text
        print(f"[{sentence.kind}] {sentence.place}\n    {re.sub(chr(10) + ' *', chr(10) + '    ', text.strip())}\n")  # noqa: T201


if __name__ == "__main__":
    main()
