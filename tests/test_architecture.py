"""ARCHITECTURE.md is true: its paths, names, layers and loop exist; what is said to be one module and one entry is."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from pathlib import Path

import pytest
from tests.toy_package import ENTRY_POINTS, LABELS, install, run_python

from crowdlogic import registry
from crowdlogic.registry import Registry

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "crowdlogic"
PAGE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")

PATH = re.compile(r"[\w.-]+(?:/[\w.-]+)*/?")

PROTOCOLS = {
    "SOURCES": "workflows/aggregate.py",
    "TRUTH_METHODS": "truth/methods.py",
    "ANNOTATOR_MODELS": "annotators/protocol.py",
    "CLASSIFIERS": "classifiers/protocol.py",
    "LEARNING_METHODS": "learning/method.py",
    "COSTS": "learning/choice.py",
    "MODEL_ADAPTERS": "learning/method.py",
    "STOPPING_RULES": "learning/stopping.py",
    "IMITATIONS": "learning/algorithm.py",
    "PRESETS": "learning/method.py",
    "PREDICATES": "rules/predicates/definition.py",
    "FORMATS": "data/formats/protocol.py",
    "PAGES": "reporting/page.py",
    "DATABASES": "data/formats/protocol.py",
    "ENGINES": "data/blocks.py",
    "PREDICTION_ENGINES": "workflows/predict.py",
}
"""The module that defines what a component of each registry must provide."""


def registries() -> dict[str, Registry]:
    return {name: value for name, value in vars(registry).items() if isinstance(value, Registry)}


def extension_points() -> str:
    """The table of extension points, from the registries."""
    rows = ["| component | registry | group of entry points | protocol | names |", "|---|---|---|---|---|"]
    for name, one in registries().items():
        names = [entry for entry in one if entry in one._entries]
        shown = ", ".join(names[:4]) + (f", ... ({len(names)})" if len(names) > 4 else "")
        rows.append(f"| {one.kind} | `registry.{name}` | `{one.group}` | `{PROTOCOLS[name]}` | {shown} |")
    return "\n".join(rows)


def is_path(word: str) -> bool:
    return PATH.fullmatch(word) is not None and ("/" in word or word.endswith((".py", ".pyi", ".md")))


def named_paths(page: str) -> set[str]:
    """Every path that the page quotes or that begins a line of a drawing."""
    quoted = re.findall(r"`([^`\n]+)`", page)
    drawn = re.findall(r"^ {4}(\w[\w/]*/)", page, flags=re.MULTILINE)
    return {word for word in (*quoted, *drawn) if is_path(word) and not word.startswith(("src/", "tests/"))}


def named_definitions(page: str) -> set[tuple[str, str]]:
    """Every (name, path) that the page names as `name` in `path`."""
    return set(re.findall(r"`(\w+)` in `([\w/]+\.py)`", page))


def defined_names(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    made = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    targets = [target for node in tree.body if isinstance(node, ast.Assign) for target in node.targets]
    return made | {target.id for target in targets if isinstance(target, ast.Name)}


def drawn_layers(page: str) -> list[set[str]]:
    """The layers of the drawing, lowest first."""
    drawing = re.search(r"^ {4}errors < .*$", page, flags=re.MULTILINE)
    return [set(re.split(r"\s*\|\s*", layer.strip())) for layer in drawing[0].split("<")] if drawing else []


def enforced_layers() -> list[set[str]]:
    """The layers of the import-linter contract, lowest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [set(re.split(r"\s*\|\s*", layer)) for layer in reversed(layers)]


@pytest.mark.extension("compat", "networks", "paper", "review", "scale", "tools")
def test_every_path_exists() -> None:
    paths = named_paths(PAGE)

    assert len(paths) > 25
    assert sorted(path for path in paths if not (PACKAGE / path).exists()) == []


def test_every_name_is_defined_where_the_page_says() -> None:
    named = named_definitions(PAGE)

    assert ("run_algorithm", "learning/algorithm.py") in named
    assert sorted(pair for pair in named if pair[0] not in defined_names(PACKAGE / pair[1])) == []


@pytest.mark.extension("compat", "networks", "paper", "review", "scale", "tools")
def test_the_table_of_extension_points_is_the_generated_one() -> None:
    assert extension_points() in PAGE


def test_the_layers_are_the_enforced_ones_and_name_every_package() -> None:
    there = {path.stem for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}

    assert drawn_layers(PAGE) == enforced_layers()
    assert {name for layer in drawn_layers(PAGE) for name in layer} == there - {"__init__"}


def test_the_loop_is_quoted_from_the_source() -> None:
    block = re.search(r"One epoch:\n\n((?: {4}.*\n)+)", PAGE)
    source = [line.strip() for line in (PACKAGE / "learning/algorithm.py").read_text(encoding="utf-8").splitlines()]

    assert block
    lines = [line.strip() for line in block[1].splitlines()]
    assert len(lines) == 5
    assert sorted(lines, key=source.index) == lines


def test_the_page_fits_on_two_screens() -> None:
    assert len(PAGE.splitlines()) <= 100


COMMANDS = """
import sys
from crowdlogic import LogicLNCL, read_corpus, read_labels
from crowdlogic.cli.app import main
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.registry import ANNOTATOR_MODELS

def crowdlogic(*words):
    sys.argv = ["crowdlogic", *words]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise

crowdlogic("aggregate", "-m", "toy", "labels.semi", "-o", "answers.semi")
crowdlogic("convert", "labels.semi", "-o", "labels.csv")
crowdlogic("convert", "labels.csv", "-o", "back.semi")
crowdlogic("train", "--labels", "labels.semi", "--items", "items.csv", "--rules", "my.rules", "--model", "toy-model",
           "--set", "annotators=toy-annotators", "--set", "limits.held_out=none", "--epochs", "2", "-o", "run")
crowdlogic("predict", "run", "items.csv", "-o", "predicted.csv")
crowdlogic("report", "run", "-o", "report.html")
annotators = ANNOTATOR_MODELS.create("toy-annotators")
method = LogicLNCL(annotators=annotators, limits=TrainingLimits(epochs=1, held_out=None))
learned = method.fit(read_corpus("items.csv"), read_labels("labels.semi"))
print("accuracy", learned.estimate.confusion[0, 0, 0])
"""
"""What a person does with the things of another package, in one process."""


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder after COMMANDS, and what they printed."""
    folder = tmp_path_factory.mktemp("work")
    (folder / "labels.semi").write_text(LABELS)
    (folder / "items.csv").write_text("item,text\nu,so good\nv,so so!\n")
    (folder / "my.rules").write_text("Shouts(S) -> Label(S, 'y') .\n")
    result = run_python(install(tmp_path_factory.mktemp("site")), folder, "-c", COMMANDS)
    assert result.returncode == 0, result.stderr
    return folder, result.stdout


def test_each_thing_of_another_package_is_one_module_and_one_entry() -> None:
    places = re.findall(r"^[\w-]+ = (toy_package\.\w+):\w+$", ENTRY_POINTS, flags=re.MULTILINE)

    assert (
        len(places)
        == len(set(places))
        == len(re.findall(r"^\[crowdlogic\.\w+\]$", ENTRY_POINTS, flags=re.MULTILINE))
        == 7
    )


def test_a_truth_method_of_another_package_answers(done: tuple[Path, str]) -> None:
    rows = [row.split(";") for row in (done[0] / "answers.semi").read_text().splitlines()[1:]]

    assert [row[:2] for row in rows] == [["u", "y"], ["v", "y"]]
    # The method is certain of y; the doubt is 0.02, and more because few items have two labels
    assert [0.85 < float(row[2]) < 0.99 for row in rows] == [True, True]


def test_a_format_of_another_package_reads_and_writes(done: tuple[Path, str]) -> None:
    assert (done[0] / "labels.csv").read_text() == LABELS.replace(";", ",")
    assert (done[0] / "back.semi").read_text() == LABELS


def test_an_annotator_model_of_another_package_is_learnt_with(done: tuple[Path, str]) -> None:
    assert done[1].splitlines()[-1] == "accuracy 0.9"


def test_a_classifier_an_annotator_model_and_a_predicate_make_a_run(done: tuple[Path, str]) -> None:
    config = (done[0] / "run/config.json").read_text()
    predicted = (done[0] / "predicted.csv").read_text().splitlines()

    assert '"toy-model"' in config
    assert '"toy-annotators"' in config
    assert [line.split(",")[:2] for line in predicted[1:]] == [["u", "x"], ["v", "y"]]


def test_a_page_of_another_package_is_shown(done: tuple[Path, str]) -> None:
    page = (done[0] / "report.html").read_text()

    assert ">Toy page</button>" in page
    assert "A toy counted 2 annotators." in page


@pytest.mark.extension("compat", "networks", "paper", "review", "scale", "tools")
def test_the_guide_for_contributors_names_only_groups_and_commands_that_exist() -> None:
    guide, makefile = ((ROOT / name).read_text(encoding="utf-8") for name in ("CONTRIBUTING.md", "Makefile"))
    groups = {value.group for value in vars(registry).values() if isinstance(value, Registry)}
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))

    assert set(re.findall(r'entry-points\."(crowdlogic\.\w+)"', guide)) == {"crowdlogic.methods"} <= groups
    assert (
        {"check", "test", "test-all", "test-long", "bench"}
        <= set(re.findall(r"(?m)(?:^ {4}|`)make ([a-z-]+)", guide))
        <= targets
    )


if __name__ == "__main__":
    sys.stdout.write(extension_points() + "\n")
