"""The commands of docs/reference/tools run, on exports that are generated from a crowd with a planted truth."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.conftest import Result, run  # noqa: F401 (a fixture)
from tests.data.formats import evaluation_exports as made
from tests.data.formats.exports import annotation, choice, task

from crowdlogic.data.corpus import documents
from crowdlogic.data.frames import from_frame
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.reading import read_answers, write_labels, write_table
from crowdlogic.data.simulate import simulate_ner

GUIDES = Path(__file__).parents[3] / "docs" / "reference" / "tools"
ITEMS, JUDGES, RIGHT = 60, 5, 0.85
TRUTH = [n % 3 == 0 for n in range(ITEMS)]
ENOUGH = 0.9
"""Five judges who are right in 85 of 100 cases are right together in 97."""


def votes() -> Iterator[tuple[int, int, bool]]:
    """Item, judge and verdict of judges who are usually right."""
    rng = np.random.default_rng(0)
    for item, truth in enumerate(TRUTH):
        for judge in range(JUDGES):
            yield item, judge, truth if rng.random() < RIGHT else not truth


def by_item() -> list[list[bool]]:
    """The verdicts on each item, by judge."""
    found: list[list[bool]] = [[] for _ in TRUTH]
    for item, _, verdict in votes():
        found[item].append(verdict)
    return found


def text(item: int) -> str:
    return f"output {item} 😀 שלום"


def crowd() -> CrowdLabels:
    rows = [(f"i{i}", f"person {j}", "good" if verdict else "bad") for i, j, verdict in votes()]
    return from_frame(dict(zip(("item", "annotator", "label"), map(list, zip(*rows, strict=True)), strict=True)))


def corpus() -> Any:
    return documents([f"i{i}" for i in range(ITEMS)], [text(i) for i in range(ITEMS)])


def make_label_studio() -> None:
    tasks = [
        task(i, text(i), *(annotation(j, choice("good" if verdict else "bad")) for j, verdict in enumerate(given)))
        for i, given in enumerate(by_item())
    ]
    made.write_json(Path("export.json"), tasks)


def make_doccano() -> None:
    with zipfile.ZipFile("export.zip", "w") as packed:
        for judge in range(JUDGES):
            records = [
                {"id": i, "text": text(i), "label": ["good" if given[judge] else "bad"], "Comments": []}
                for i, given in enumerate(by_item())
            ]
            packed.writestr(f"member{judge}.jsonl", "".join(json.dumps(one) + "\n" for one in records))


def make_prodigy() -> None:
    write_labels("annotations.jsonl", crowd(), corpus=corpus(), format="prodigy")


def make_potato() -> None:
    write_labels("project", crowd(), corpus=corpus(), format="potato")


def make_conll() -> None:
    simulated = simulate_ner(1, items=80, test_items=1, annotators=6, labels_per_item=3)
    write_labels("labels.conll", simulated.labels, corpus=simulated.corpus)


def make_huggingface() -> None:
    write_labels("crowd", crowd(), corpus=corpus(), format="huggingface")


def make_promptfoo() -> None:
    results = [
        made.promptfoo_result(
            i,
            0,
            *(
                made.verdict(verdict, "llm-rubric", metric="polite", provider=f"judge{j}")
                for j, verdict in enumerate(given)
            ),
            made.verdict(True, "contains", metric="has-word"),
            output=text(i),
        )
        for i, given in enumerate(by_item())
    ]
    made.write_json(Path("results.json"), made.promptfoo_file(*results))


def make_inspect() -> None:
    samples = [
        made.inspect_sample(
            f"q{i}", {f"judge{j}": "C" if verdict else "I" for j, verdict in enumerate(given)}, text=text(i)
        )
        for i, given in enumerate(by_item())
    ]
    made.write_eval(Path("log.eval"), *samples)
    numbers = [
        made.inspect_sample(f"q{i}", {f"judge{j}": 0.4 + 0.3 * verdict for j, verdict in enumerate(given)})
        for i, given in enumerate(by_item())
    ]
    made.write_json(Path("scores.json"), made.inspect_log(*numbers))


def make_deepeval() -> None:
    cases = [
        made.deepeval_case(
            f"case_{i}", *(("Answer Relevancy", verdict, f"model{j}") for j, verdict in enumerate(given))
        )
        for i, given in enumerate(by_item())
    ]
    made.write_json(Path("test_run.json"), made.deepeval_run(*cases))


def make_lm_eval() -> None:
    samples = [
        made.lm_eval_sample(i, **{f"metric{j}": float(verdict) for j, verdict in enumerate(given)})
        for i, given in enumerate(by_item())
    ]
    made.write_lines(Path("samples.jsonl"), samples)


def make_langfuse() -> None:
    scores = [
        made.langfuse_score(
            "helpful", int(v), type="BOOLEAN", source="ANNOTATION", traceId=f"t{i}", authorUserId=f"person{j}"
        )
        for i, j, v in votes()
    ]
    made.write_json(Path("scores.json"), {"data": scores, "meta": {"page": 1}})


def make_opik() -> None:
    traces = [
        made.opik_trace(
            f"t{i}",
            {
                "name": "helpful",
                "value": 0.5,
                "source": "ui",
                "value_by_author": {f"person{j}": {"value": float(v), "source": "ui"} for j, v in enumerate(given)},
            },
        )
        for i, given in enumerate(by_item())
    ]
    made.write_opik(Path("export"), *traces)


def make_argilla() -> None:
    records = [
        {
            "id": f"r{i}",
            "fields": {"text": text(i)},
            "metadata": {},
            "suggestions": {},
            "responses": {
                "label": [{"value": "good" if v else "bad", "user_id": f"user{j}"} for j, v in enumerate(given)]
            },
            "vectors": {},
            "status": "completed",
            "_server_id": None,
        }
        for i, given in enumerate(by_item())
    ]
    made.write_json(Path("records.json"), records)


def make_inception() -> None:
    head = "#FORMAT=WebAnno TSV 3.3\n#T_SP=de.ukp.ner.type.NamedEntity|identifier|value\n\n\n"
    line = "#Text=Ann sings\n{n}-1\t{a}-{b}\tAnn\t_\t{tag}\t\n{n}-2\t{c}-{d}\tsings\t_\t_\t\n\n"
    with zipfile.ZipFile("export.zip", "w") as packed:
        for judge in range(JUDGES):
            body = head
            for i, given in enumerate(by_item()):
                at = 10 * i
                tag = "PER" if given[judge] else "_"
                body += line.format(n=i + 1, a=at, b=at + 3, c=at + 4, d=at + 9, tag=tag)
            packed.writestr(f"annotation/doc.txt/user{judge}.tsv", body)


def make_wrench() -> None:
    examples = {
        str(i): {"label": int(TRUTH[i]), "weak_labels": [int(v) for v in given], "data": {"text": text(i)}}
        for i, given in enumerate(by_item())
    }
    made.write_json(Path("train.json"), examples)
    made.write_json(Path("label.json"), {"0": "bad", "1": "good"})


def make_snorkel() -> None:
    np.savez("L.npz", L=np.array(by_item(), dtype=int), Y=np.array(TRUTH, dtype=int))


def make_crowd_kit() -> None:
    write_table("labels.csv", crowd().to_frame().rename({"item": "task", "annotator": "worker"}))


def make_cleanlab() -> None:
    columns: dict[str, Any] = {"item": [f"i{i}" for i in range(ITEMS)]}
    for judge in range(JUDGES):
        columns[f"annotator{judge}"] = ["good" if given[judge] else "bad" for given in by_item()]
    write_table("labels.csv", pl.DataFrame(columns))


EXPORTS: dict[str, Callable[[], None]] = {
    "argilla": make_argilla,
    "inception": make_inception,
    "wrench": make_wrench,
    "snorkel": make_snorkel,
    "crowd-kit": make_crowd_kit,
    "cleanlab": make_cleanlab,
    "label-studio": make_label_studio,
    "doccano": make_doccano,
    "prodigy": make_prodigy,
    "potato": make_potato,
    "conll": make_conll,
    "huggingface": make_huggingface,
    "spacy": make_conll,
    "fasttext": make_label_studio,
    "promptfoo": make_promptfoo,
    "inspect": make_inspect,
    "deepeval": make_deepeval,
    "lm-eval": make_lm_eval,
    "langfuse": make_langfuse,
    "opik": make_opik,
}


def commands(page: str) -> list[list[str]]:
    """The words of every command of ours on a page."""
    lines = re.findall(r"^    (crowdlogic .*)$", (GUIDES / f"{page}.md").read_text(), flags=re.MULTILINE)
    return [shlex.split(line, comments=True) for line in lines]


def test_every_page_has_an_export_and_is_listed() -> None:
    pages = {path.stem for path in GUIDES.glob("*.md")} - {"README"}
    listed = set(re.findall(r"\]\(([\w-]+)\.md\)", (GUIDES / "README.md").read_text()))

    assert pages == set(EXPORTS)
    assert listed == pages


@pytest.mark.parametrize("page", EXPORTS)
def test_the_commands_of_a_page_run(page: str, run: Callable[..., Result]) -> None:  # noqa: F811
    if page == "spacy" and importlib.util.find_spec("spacy") is None:
        pytest.skip("spaCy is not installed; tests/tools runs its writer")
    EXPORTS[page]()
    found = commands(page)
    assert found

    for words in found:
        done = run(*words[1:])
        assert done.code == 0, (words, done.err)
        for flag in ("-o", "--annotators"):
            if flag in words:
                assert Path(words[words.index(flag) + 1]).exists(), words


CONSENSUS = {
    "argilla": "consensus.csv",
    "wrench": "consensus.csv",
    "crowd-kit": "consensus.csv",
    "cleanlab": "consensus.csv",
    "label-studio": "consensus.json",
    "doccano": "consensus.csv",
    "prodigy": "consensus.jsonl",
    "potato": "consensus.csv",
    "huggingface": "consensus",
    "promptfoo": "polite.csv",
    "inspect": "verdicts.csv",
    "deepeval": "verdicts.csv",
    "lm-eval": "verdicts.csv",
    "langfuse": "verdicts.csv",
    "opik": "verdicts.csv",
}
GOOD = {"good", "pass", "C"}


@pytest.mark.parametrize("page", CONSENSUS)
def test_the_consensus_of_a_page_is_the_planted_truth(page: str, run: Callable[..., Result]) -> None:  # noqa: F811
    EXPORTS[page]()
    words = next(one for one in commands(page) if CONSENSUS[page] in one)
    assert run(*words[1:]).code == 0

    answers = read_answers(CONSENSUS[page])

    numbers = [int(re.findall(r"\d+", str(name))[0]) for name in answers.items]
    right = [(answers.classes[code] in GOOD) == TRUTH[i] for i, code in zip(numbers, answers.answer, strict=True)]
    assert len(right) == ITEMS
    assert np.mean(right) >= ENOUGH
