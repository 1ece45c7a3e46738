from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from enum import StrEnum
from typing import Annotated, Any

import pytest
import typer

from crowdlogic.cli.app import keep_plain_values


class Size(StrEnum):
    small = "small"
    large = "large"


def make_command(seen: list[Any]) -> Any:
    app = typer.Typer(add_completion=False, rich_markup_mode=None)

    @app.command()
    def run(
        name: str,
        text: Annotated[str | None, typer.Option()] = None,
        number: Annotated[int, typer.Option(min=1)] = 3,
        share: Annotated[float | None, typer.Option()] = None,
        size: Annotated[Size, typer.Option()] = Size.small,
        many: Annotated[list[str] | None, typer.Option()] = None,
        flag: Annotated[bool, typer.Option("--flag")] = False,
    ) -> None:
        seen[:] = [name, text, number, share, size, many, flag]

    return typer.main.get_command(app)


ARGUMENTS = [
    "a",
    "a --text b",
    "a --number 7 --share 0.5",
    "a --size large --flag",
    "a --many x --many y --text 3",
]


@pytest.mark.parametrize("arguments", ARGUMENTS)
def test_a_command_gets_the_values_that_typer_would_give_it(arguments: str) -> None:
    expected: list[Any] = []
    found: list[Any] = []
    make_command(expected).main(arguments.split(), standalone_mode=False)

    keep_plain_values(make_command(found)).main(arguments.split(), standalone_mode=False)

    assert found == expected
    assert [type(one) for one in found] == [type(one) for one in expected]


@pytest.mark.parametrize("arguments", ["", "a --number no", "a --number 0", "a --size middle", "a --share x"])
def test_a_wrong_command_line_is_refused_in_the_same_words(arguments: str) -> None:
    def problem(wrap: Callable[[Any], Any]) -> str:
        with pytest.raises(Exception) as caught:  # noqa: PT011 (typer's own kinds)
            wrap(make_command([])).main(arguments.split(), standalone_mode=False)
        return f"{type(caught.value).__name__} {caught.value.format_message()}"  # type: ignore[attr-defined]

    assert problem(keep_plain_values) == problem(lambda command: command)


def test_a_command_of_texts_does_not_load_pydantic(tmp_path: Any) -> None:
    (tmp_path / "in.csv").write_text("item,annotator,label\n1,ann,yes\n1,bob,yes\n2,ann,no\n")
    code = (
        "import sys; sys.argv = ['crowdlogic', 'aggregate', 'in.csv', '-m', 'majority', '-o', 'out.csv']\n"
        "from crowdlogic.cli.app import main\n"
        "try:\n    main()\nfinally:\n    print([m for m in ('pydantic', 'numba', 'scipy', 'torch') if m in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"
