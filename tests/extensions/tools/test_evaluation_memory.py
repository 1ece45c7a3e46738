"""Reading an evaluation of 20 MB takes at most ten times its size above the idle process."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.data.formats import evaluation_exports as made

from crowdlogic.data.corpus import documents
from crowdlogic.data.frames import from_frame
from crowdlogic.data.reading import write_labels

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(not Path("/proc/self/status").is_file(), reason="memory is read from /proc"),
]

SIZE, MOST_TIMES = 20_000_000, 10
TEXT = "an output of some length, with an emoji 😀 in it. " * 8

READ = """
import sys
from pathlib import Path
from crowdlogic.data.reading import read_crowd
import crowdlogic.extensions.tools.grades, crowdlogic.extensions.tools.huggingface, crowdlogic.extensions.tools.label_studio

def most_memory():
    # of this process alone; resource.getrusage would begin with that of the process which started it
    return next(int(line.split()[1]) for line in Path("/proc/self/status").read_text().splitlines() if "VmHWM" in line)

idle = most_memory()
labels = read_crowd(sys.argv[1]).labels
assert labels.n_labels > 10_000, labels
print(most_memory() - idle)
"""


def repeat(one: Callable[[int], Any]) -> list[Any]:
    """As many records as make up 20 MB."""
    return [one(number) for number in range(SIZE // len(json.dumps(one(1), ensure_ascii=False).encode()) + 1)]


def promptfoo(folder: Path) -> Path:
    verdicts = [made.verdict(True, "contains", metric=f"m{k}") for k in range(4)]
    results = repeat(lambda n: made.promptfoo_result(n, 0, *verdicts, output=TEXT))
    return made.write_json(folder / "f.json", made.promptfoo_file(*results))


def inspect_json(folder: Path) -> Path:
    samples = repeat(lambda n: made.inspect_sample(n, {f"s{k}": "C" for k in range(4)}, text=TEXT))
    return made.write_json(folder / "f.json", made.inspect_log(*samples))


def deepeval(folder: Path) -> Path:
    metrics = [(f"m{k}", True, "gpt") for k in range(4)]
    return made.write_json(
        folder / "f.json", made.deepeval_run(*repeat(lambda n: made.deepeval_case(f"c{n}", *metrics, text=TEXT)))
    )


def lm_eval(folder: Path) -> Path:
    return made.write_lines(folder / "f.jsonl", repeat(lambda n: made.lm_eval_sample(n, acc=1, f1=0, answer=TEXT)))


def langfuse(folder: Path) -> Path:
    scores = repeat(lambda n: made.langfuse_score("helpful", n % 2, traceId=f"trace {n}", comment=TEXT))
    return made.write_json(folder / "f.json", {"data": scores})


def huggingface(folder: Path) -> Path:
    rows = SIZE // 900
    labels = from_frame({"item": [f"i{n}" for n in range(rows)], "annotator": ["ann"] * rows, "label": ["x"] * rows})
    corpus = documents([f"i{n}" for n in range(rows)], [TEXT * 3] * rows)
    write_labels(folder / "d", labels, corpus=corpus, format="huggingface")
    return folder / "d"


def size_of(path: Path) -> int:
    return sum(one.stat().st_size for one in path.rglob("*")) if path.is_dir() else path.stat().st_size


@pytest.mark.parametrize(
    "write", [promptfoo, inspect_json, deepeval, lm_eval, langfuse, huggingface], ids=lambda write: write.__name__
)
def test_memory_is_at_most_ten_times_the_file(write: Callable[[Path], Path], tmp_path: Path) -> None:
    path = write(tmp_path)
    size = size_of(path)

    done = subprocess.run([sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr[-1000:]
    assert size > SIZE
    assert int(done.stdout) * 1024 < MOST_TIMES * size, f"{int(done.stdout) * 1024 / size:.1f} times the file"
