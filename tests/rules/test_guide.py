"""Every example of docs/reference/rules.md runs, and prints what the guide says."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import sys
from pathlib import Path

import pytest

from crowdlogic.cli.app import main
from crowdlogic.registry import PREDICATES
from crowdlogic.rules import Vocabulary, check, expand, parse_rules

GUIDE = Path(__file__).parents[2] / "docs" / "reference" / "rules.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BROKEN = (
    "# the guide's example of a broken file\n1.0: Contains(S, 'slow') -> Label(S, 'negativ')\n"
    "1.0: Label(S, C) & Afte(S, 'but', B) -> Predicted(B, C)\n"
)


def blocks() -> list[tuple[str, str]]:
    return BLOCK.findall(GUIDE.read_text(encoding="utf-8"))


def vocabulary() -> Vocabulary:
    import polars as pl

    known = Vocabulary().table("Means", pl.DataFrame({"word": ["a"], "class": ["x"]}))
    known.table("Similar", pl.DataFrame({"a": ["a"], "b": ["b"]}))
    known.table("Tone", pl.DataFrame({"word": ["a"], "label": ["x"]}))
    known.predicate("Shouting")(lambda texts: [0.0 for _ in texts])
    return known


def test_every_python_example_prints_what_the_guide_says() -> None:
    names: dict[str, object] = {}
    found = blocks()
    for at, (kind, text) in enumerate(found):
        if kind != "python":
            continue
        printed = io.StringIO()

        with contextlib.redirect_stdout(printed):
            exec(compile(text, f"docs/reference/rules.md, block {at}", "exec"), names)  # noqa: S102 (the guide is ours)

        if printed.getvalue():
            assert found[at + 1] == ("output", printed.getvalue())


def test_every_output_follows_an_example() -> None:
    found = blocks()

    assert all(found[at - 1][0] == "python" for at, (kind, _) in enumerate(found) if kind == "output")
    assert sum(kind == "python" for kind, _ in found) >= 11
    assert {kind for kind, _ in found} == {"python", "output", "rules", "console", "toml"}


@pytest.mark.parametrize("text", [text for kind, text in blocks() if kind == "rules"])
def test_every_rule_of_the_guide_passes_the_check(text: str) -> None:
    classes = tuple(dict.fromkeys(re.findall(r"'((?:[BI]-)?(?:PER|ORG|LOC)|O|negative|neutral|positive)'", text)))

    errors = [
        one
        for one in check(parse_rules(text), classes=classes or None, vocabulary=vocabulary())
        if one.severity == "error"
    ]

    assert errors == []
    assert len(expand(parse_rules(text), classes)) > 0


def test_every_command_of_the_guide_prints_what_it_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("broken.rules").write_text(BROKEN)
    for text in (text for kind, text in blocks() if kind == "console"):
        command, expected = text.split("\n", 1)
        monkeypatch.setattr(sys, "argv", shlex.split(command.removeprefix("$ ")))

        with pytest.raises(SystemExit):
            main()

        assert capfd.readouterr().out == expected


def test_the_guide_lists_every_predicate_as_its_definition_says() -> None:
    rows = [row for row in GUIDE.read_text(encoding="utf-8").splitlines() if re.match(r"\| `\w+\(", row)]
    found = [PREDICATES.load(name) for name in PREDICATES]

    assert rows == [f"| `{one.example}` | {one.meaning} |" for one in found]
