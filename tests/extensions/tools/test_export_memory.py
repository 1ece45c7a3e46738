"""Memory of importers: at most ten times the file above an idle process, on files of 20 MB; sound and cut off."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.data.formats.exports import annotation, choice, span, task

SIZE = 20_000_000
TEXT = "Yesterday Ann went home with her friends, and nobody in Rome heard of it. "
MEASURE = """
import sys
from pathlib import Path
from crowdlogic.data.reading import read_crowd
from crowdlogic.data.files import InputFile
from crowdlogic.data.formats.protocol import detect_format
from crowdlogic.errors import CrowdLogicError
detect_format(InputFile(sys.argv[1]))

def most_memory():
    # of this process alone; resource.getrusage would begin with that of the process which started it
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)

from crowdlogic.extensions.tools.collector import Collector  # a small crowd of each kind loads all that reading needs
from crowdlogic.data.formats.protocol import ReadOptions
for mark in (lambda c, i: c.spans(i, "a", [(0, 3, "PER")], record=1), lambda c, i: c.label(i, "a", "x", record=1)):
    small = Collector("small", ReadOptions())
    mark(small, small.item("s", text="Ann sings"))
    small.crowd()
idle = most_memory()
try:
    print(read_crowd(sys.argv[1]).labels.n_labels, file=sys.stderr)
except CrowdLogicError as problem:
    print(problem, file=sys.stderr)
print((most_memory() - idle) * 1024)
"""
HASHES = {"_task_hash": 6, "_session_id": "s", "_timestamp": 17, "answer": "accept"}


def choices(n: int) -> Any:
    return task(n, TEXT * 3, *(annotation(who, choice("xyz"[(n + who) % 3])) for who in range(5)))


def spans(n: int) -> Any:
    return task(n, TEXT * 3, *(annotation(who, span(10, 13, "PER", "Ann")) for who in range(5)))


def prodigy(n: int) -> Any:
    words = [{"text": w, "start": 0, "end": 0, "id": i, "ws": True} for i, w in enumerate(TEXT.split())]
    at = 0
    for word in words:
        word["start"] = TEXT.index(word["text"], at)
        word["end"] = at = word["start"] + len(word["text"])
    marked = [{"start": 10, "end": 13, "label": "PER", "token_start": 1, "token_end": 1}]
    return {
        "text": TEXT,
        "tokens": words,
        "spans": marked,
        "_input_hash": n // 5,
        "_annotator_id": f"a{n % 5}",
        **HASHES,
    }


def doccano(n: int) -> Any:
    return {"id": n, "text": TEXT * 3, "label": ["xyz"[n % 3]], "Comments": []}


def argilla(n: int) -> Any:
    responses = [{"value": "xyz"[(n + who) % 3], "user_id": f"user-{who}"} for who in range(5)]
    return {
        "id": str(n),
        "fields": {"text": TEXT * 3},
        "metadata": {},
        "suggestions": {},
        "responses": {"label": responses},
    }


def write_wrench(path: Path, _: Any) -> None:
    example = {"label": 1, "weak_labels": [1, -1, 0, 1, -1], "data": {"text": TEXT * 3}}
    path.write_text(json.dumps({str(n): example for n in range(SIZE // len(json.dumps(example)))}))


def write_webanno(path: Path, _: Any) -> None:
    """One document: a header, and a sentence of as many tokens as the text has words, over and over."""
    words, at = TEXT.split(), 0
    parts = ["#FORMAT=WebAnno TSV 3.3\n#T_SP=webanno.custom.NamedEntity|value\n\n\n"]
    size = 0
    for number in range(1, 10**6):
        lines, text = [], " ".join(words)
        for t, word in enumerate(words):
            start = at + (0 if t == 0 else len(" ".join(words[:t])) + 1)
            lines.append(f"{number}-{t + 1}\t{start}-{start + len(word)}\t{word}\t{'PER' if word == 'Ann' else '_'}\t")
        parts.append(f"#Text={text}\n" + "\n".join(lines) + "\n\n")
        at += len(text) + 1
        size += len(parts[-1])
        if size > SIZE:
            break
    (path / "doc").mkdir(parents=True)
    (path / "doc" / "ann.tsv").write_text("".join(parts))


def write_array(path: Path, record: Callable[[int], Any]) -> None:
    count = SIZE // len(json.dumps(record(7)))
    path.write_text("[" + ",\n".join(json.dumps(record(n)) for n in range(count)) + "]")


def write_lines(path: Path, record: Callable[[int], Any]) -> None:
    count = SIZE // len(json.dumps(record(7)))
    path.write_text("".join(json.dumps(record(n)) + "\n" for n in range(count)))


def write_potato(path: Path, _: Any) -> None:
    (path / "ann").mkdir(parents=True)
    pairs = {f"instance-{n}": [[{"schema": "sentiment", "name": "xyz"[n % 3]}, "true"]] for n in range(SIZE // 76)}
    state = {"user_id": "ann", "instance_id_ordering": [], "instance_id_to_label_to_value": pairs}
    (path / "ann" / "user_state.json").write_text(json.dumps(state))


@pytest.mark.long
@pytest.mark.parametrize("cut", [False, True], ids=["sound", "cut off"])
@pytest.mark.parametrize(
    ("name", "write", "record"),
    [
        ("e.json", write_array, choices),
        ("e.json", write_array, spans),
        ("e.jsonl", write_lines, prodigy),
        ("e.jsonl", write_lines, doccano),
        ("p", write_potato, None),
        ("e.json", write_array, argilla),
        ("e.json", write_wrench, None),
        ("p", write_webanno, None),
    ],
    ids=["label-studio", "label-studio spans", "prodigy", "doccano", "potato", "argilla", "wrench", "webanno-tsv"],
)
def test_memory_is_at_most_ten_times_the_file(name: str, write: Any, record: Any, cut: bool, tmp_path: Path) -> None:
    path = tmp_path / name
    write(path, record)
    file = next(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else path
    if cut:
        with file.open("r+b") as opened:
            opened.truncate(file.stat().st_size - 50)

    done = subprocess.run([sys.executable, "-c", MEASURE, str(path)], capture_output=True, text=True, check=True)

    assert float(done.stdout) <= 10 * file.stat().st_size, done.stderr
