"""label-studio-sdk's own converter writes JSON_MIN, CSV and TSV; we read them like the tasks they came from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.data.formats.exports import annotation, choice, rating, span, task, write_json

from crowdlogic.data.formats.protocol import ReadOptions
from crowdlogic.data.reading import read_crowd

pytestmark = pytest.mark.heavy

CONVERT = """
import sys
from label_studio_sdk.converter import Converter
config = '''<View><Text name="text" value="$text"/>
<Choices name="sentiment" toName="text"><Choice value="pos"/><Choice value="neg"/></Choices>
<Labels name="ner" toName="text"><Label value="PER"/><Label value="LOC"/></Labels>
<Rating name="stars" toName="text"/></View>'''
converter = Converter(config, project_dir=None)
converter.convert_to_json_min(sys.argv[1], "min", is_dir=False)
converter.convert_to_csv(sys.argv[1], "csv", is_dir=False, sep=",")
converter.convert_to_csv(sys.argv[1], "tab", is_dir=False, sep="\\t")
"""
TEXT = 'Ann "Annie" Lee 😀,\nin Rome'


@pytest.mark.parametrize(
    ("question", "results"),
    [
        ("sentiment", [choice("pos"), choice("neg"), choice("pos")]),
        ("stars", [rating(1), rating(5), rating(5)]),
        ("ner", [span(0, 3, "PER", "Ann"), span(22, 26, "LOC", "Rome"), span(0, 3, "LOC", "Ann")]),
    ],
)
def test_all_exports_of_a_project_give_the_same_labels(
    question: str, results: list[dict[str, object]], tools: Callable[..., str], tmp_path: Path
) -> None:
    people = [1, {"id": 2, "email": "b@x.org"}, 3]
    tasks = [
        task(n, TEXT, *(annotation(who, one) for who, one in zip(people, results[n:] + results[:n], strict=True)))
        for n in range(2)
    ]
    whole = read_crowd(write_json(tmp_path / "tasks.json", tasks), ReadOptions(question=question))

    tools(CONVERT, "tasks.json")

    (tmp_path / "tab" / "result.csv").rename(tmp_path / "result.tsv")
    for name in ("min/result.json", "csv/result.csv", "result.tsv"):
        found = read_crowd(tmp_path / name, ReadOptions(question=question))
        ours, theirs = (one.labels.to_frame().cast({"item": str, "label": str}).sort("item", "annotator", maintain_order=True) for one in (whole, found))  # fmt: skip
        assert theirs.equals(ours), name
        assert found.corpus is not None
        assert found.corpus.texts == (TEXT, TEXT)
