"""What is fuzzed: readers, commands, rules, runs, estimates, checkpoints, crowds and review requests, from sound inputs."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import shutil
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from tests.data.formats.evaluation_exports import (
    deepeval_case,
    deepeval_run,
    inspect_log,
    inspect_sample,
    langfuse_score,
    lm_eval_sample,
    promptfoo_file,
    promptfoo_result,
    verdict,
)
from tests.data.formats.exports import annotation, choice, span, task
from tests.fuzz.commands import attack_command
from tests.fuzz.crowds import attack_methods, attack_training
from tests.fuzz.mutations import VALUES, Rng, mutate_arrays, mutate_bytes, mutate_json, mutate_table, pick
from tests.fuzz.review_requests import attack_requests
from tests.report.small_crowds import report_on
from tests.store.sealing import reseal

from crowdlogic.data.formats.protocol import ReadOptions, load_format
from crowdlogic.data.frames import from_arrays
from crowdlogic.data.reading import read_answers, read_corpus, read_crowd, read_table, write_corpus, write_labels
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.data.vectors import read_vectors
from crowdlogic.errors import CrowdLogicError
from crowdlogic.learning.algorithm import LogicLNCL
from crowdlogic.learning.method import TrainingData
from crowdlogic.learning.saved_run import check_record, load_run, train_run
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.learning.training import HistoryRow
from crowdlogic.registry import FORMATS
from crowdlogic.reporting.html import to_html
from crowdlogic.reporting.inputs import inputs_from_estimate, inputs_from_run
from crowdlogic.rules.checking import check
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.grounding import ground_rules
from crowdlogic.rules.parser import parse_rules, read_rules
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.store.checksums import arrays_sha256
from crowdlogic.store.estimates import load_estimate, save_estimate
from crowdlogic.store.files import get_arrays, get_arrays_and_metadata, put_arrays
from crowdlogic.store.options import decode_options, parse_changes
from crowdlogic.store.runs import read_run
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.glad import GLAD

REVIEWS = simulate_sentiment(1, items=12, test_items=4, annotators=4, labels_per_item=3)
SENTENCES = simulate_ner(1, items=8, test_items=3, annotators=3, labels_per_item=2)
LABELS = from_arrays(["u", "u", "v", "w"], ["a", "b", "a", "b"], ["x", "y", "x", "x"])

Attack = Callable[[Path, Rng], None]
"""Make an input in a folder and hand it to its reader; a CrowdLogicError or nothing comes out."""


@dataclass(frozen=True)
class Target:
    """Something that reads what others wrote.

    Attributes:
        name: What to call it.
        share: How many of 1000 inputs go to it.
        attack: Hands it an input.
    """

    name: str
    share: int
    attack: Attack


@cache
def sound_files() -> dict[str, list[bytes]]:
    """Files of every format that can be written, by the name of the format."""
    folder = Path("sound")
    folder.mkdir(exist_ok=True)
    found: dict[str, list[bytes]] = {}
    for name in FORMATS:
        path = folder / f"f{load_format(name).suffixes[0]}"
        for write in (
            lambda path=path, name=name: write_labels(path, LABELS, format=name),
            lambda path=path, name=name: write_labels(path, REVIEWS.labels, corpus=REVIEWS.corpus, format=name),
            lambda path=path, name=name: write_labels(path, SENTENCES.labels, corpus=SENTENCES.corpus, format=name),
            lambda path=path, name=name: write_corpus(path, REVIEWS.corpus, format=name),
            lambda path=path, name=name: write_corpus(path, SENTENCES.corpus, format=name),
        ):
            with contextlib.suppress(CrowdLogicError):
                write()
                if path.is_file():
                    found.setdefault(name, []).append(path.read_bytes())
                    path.unlink()
    return found


def attack_file(folder: Path, rng: Rng) -> None:
    """A mutated file of some format, read as that one or as another, as labels, items, answers or a table."""
    files = sound_files()
    name = pick(rng, sorted(files))
    read_as = name if rng.random() < 0.9 else pick(rng, sorted(FORMATS))
    content = mutate_bytes(pick(rng, files[name]), rng, files[pick(rng, sorted(files))])
    if rng.random() < 0.05:
        content = gzip.compress(content)
    path = folder / f"f{load_format(read_as).suffixes[0]}"
    path.write_bytes(content)
    given = None if rng.random() < 0.5 else read_as
    _read_somehow(path, given, rng)


def attack_export(folder: Path, rng: Rng) -> None:
    """The export of a tool with other values in it, read as labels, items or answers."""
    name, sound = pick(rng, EXPORTS)
    content = mutate_json(json.loads(json.dumps(sound)), rng)
    is_lines = isinstance(content, list) and name in LINES
    text = "\n".join(json.dumps(one) for one in content) if is_lines else json.dumps(content)
    path = folder / f"f{load_format(name).suffixes[0]}"
    path.write_text(text, encoding="utf-8")
    _read_somehow(path, name, rng)


def _read_somehow(path: Path, given: str | None, rng: Rng) -> None:
    how = int(rng.integers(5))
    if how == 0:
        read_table(path, format=given)
    elif how == 1:
        read_corpus(path, format=given)
    elif how == 2:
        read_answers(path, format=given)
    else:
        crowd = read_crowd(path, ReadOptions(wide=how == 4 and rng.random() < 0.3, duplicates="first"), format=given)
        crowd.labels.to_frame()


@cache
def sound_vectors() -> list[bytes]:
    vectors = np.random.default_rng(0).normal(size=(4, 3)).astype(np.float32)
    words = ["a", "b", "é", "new york"]
    text = "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, vectors.tolist(), strict=True))
    binary = b"4 3\n" + b"".join(word.encode() + b" " + row.tobytes() for word, row in zip(words, vectors, strict=True))
    packed, plain = io.BytesIO(), io.BytesIO()
    np.savez_compressed(packed, words=np.array(words), vectors=vectors)
    np.savez(plain, words=np.array(words), vectors=vectors)
    return [
        text.encode(),
        f"4 3\n{text}".encode(),
        binary,
        packed.getvalue(),
        plain.getvalue(),
        gzip.compress(text.encode()),
    ]


LINES = ("lm-eval", "prodigy", "argilla", "jsonl")
"""The exports that are one JSON value a line."""

TEXT = "Ann left"
EXPORTS: list[tuple[str, Any]] = [
    ("label-studio", [task(1, TEXT, annotation(1, choice("x")), annotation({"id": 2, "email": "b"}, choice("y")))]),
    ("label-studio", [task(2, TEXT, annotation(1, span(0, 3, "PER", "Ann")), annotation(2, span(4, 8, "ORG")))]),
    ("promptfoo", promptfoo_file(promptfoo_result(0, 0, verdict(True, "llm-rubric")), promptfoo_result(1, 0))),
    ("inspect", inspect_log(inspect_sample("a", {"judge": "C", "other": 1.0}), inspect_sample("b", {"judge": "I"}))),
    ("deepeval", deepeval_run(deepeval_case("a", ("m", True, "gpt"), ("n", False, None)))),
    ("lm-eval", [lm_eval_sample(0, acc=1.0), lm_eval_sample(1, acc=0.0, filter="strict")]),
    ("langfuse", [langfuse_score("q", 1), langfuse_score("q", 0)]),
    (
        "prodigy",
        [{"text": TEXT, "_input_hash": 1, "_annotator_id": name, "answer": "accept", "label": "x"} for name in "ab"],
    ),
    (
        "prodigy",
        [{"text": TEXT, "_annotator_id": "b", "answer": "accept", "spans": [{"start": 0, "end": 3, "label": "PER"}]}],
    ),
    ("argilla", [{"id": "1", "fields": {"text": TEXT}, "responses": {"q": [{"user_id": "a", "value": "x"}]}}]),
    ("jsonl", [{"item": "s", "tokens": ["Ann", "left"], "crowd": {"a": ["B", "O"], "b": ["O", "O"]}}]),
    ("jsonl", [{"item": "u", "annotator": name, "label": "x", "weight": 0.5} for name in "ab"]),
    ("json", [{"item": "u", "annotator": name, "label": "x"} for name in "ab"]),
]
"""Small exports of tools, by the name of the format."""


def attack_vectors(folder: Path, rng: Rng) -> None:
    (folder / "v").write_bytes(mutate_bytes(pick(rng, sound_vectors()), rng, sound_vectors()))
    found = read_vectors(folder / "v")
    found.matrix(["a", "zzz"])


RULES = [
    "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)\n",
    "$G = {'good', 'fine'}\n2: Contains(S, $G) -> Label(S, 'positive') ^2\n",
    "Label(S, 'positive') + Label(S, 'negative') = 1 .\n",
    "1: Label(S, C) & Contains(S, 'ugly') -> C != 'positive'\n0.5: include contrast('but')\n",
    "1: Matches(S, '^[a-z]{1,5}\\\\d?') & !Contains(S, 'x') -> Label(S, 'negative') | Label(S, 'positive')\n",
    "0.3: 2 * Label(A, 'positive') - Label(B, C) / 4 <= 1 - Label(A, C)\n",
    "1: Label(T, 'I-PER') & Previous(T, P) -> Label(P, 'B-PER') | Label(P, 'I-PER')\n1: include bio\n",
    "1: InList(S, 'words.txt') -> Label(S, 'positive')\ninclude 'more.rules'\n",
]
RULE_TOKENS = [
    "Label(S, C)", "Label(T, 'B-PER')", "Contains(S, 'a')", "After(S, 'a', B)", "Previous(T, P)", "First(T)", "Predicted(B, C)", "InList(S, $G)",
    "Matches(S, '(a|b)*c{2,900}')", "$G", "'x'", "C", "S", "->", "<-", "&", "|", "!", "==", "!=", "<=", ">=", "=", "+", "-", "*", "/", "(", ")",
    "1:", "1e6:", "0:", ".", "^2", "include bio", "include 'my.rules'", "include '../x'", "{", "}", ",", "2.5", "1e999", "\n", "#", "/*", "+C",
]  # fmt: skip


def attack_rules(folder: Path, rng: Rng) -> None:
    """A mutated program: parsed, printed and parsed again, checked, grounded and projected."""
    if rng.random() < 0.5:
        text = mutate_bytes(pick(rng, RULES).encode(), rng, [rule.encode() for rule in RULES]).decode(
            "utf-8", "replace"
        )
    else:
        parts = pick(rng, RULES).split(" ")
        for _ in range(int(rng.integers(1, 5))):
            parts[int(rng.integers(len(parts)))] = pick(rng, RULE_TOKENS)
        text = " ".join(parts)
    (folder / "my.rules").write_text(text, encoding="utf-8")
    (folder / "more.rules").write_text("1: Contains(S, 'b') -> Label(S, 'negative')\n")
    (folder / "words.txt").write_text("good\nfine\n")
    rules = read_rules(folder / "my.rules")
    if parse_rules(str(rules), folder=folder).statements != rules.statements:
        raise AssertionError(f"a program reads otherwise once it is printed: {text!r}")
    corpus, classes = (REVIEWS.corpus, REVIEWS.labels.classes)
    if rng.random() < 0.3:
        corpus, classes = SENTENCES.corpus, SENTENCES.labels.classes
    expand(rules, classes)
    check(rules, classes=classes, corpus=corpus)
    ground = ground_rules(rules, corpus, classes)
    even = np.full((corpus.n_units, len(classes)), 1 / len(classes))
    predict = lambda texts: np.full((len(texts), len(classes)), 1 / len(classes))  # noqa: E731
    q_b = Projector(strength=1.0).project(even, ground, predict=predict).q_b
    if not np.isfinite(q_b).all():
        raise AssertionError(f"beliefs are not finite: {text!r}")


class StopError(Exception):
    """A training is stopped here."""


def _stop(row: HistoryRow, most: int) -> None:
    if row.epoch == 2:
        raise StopError


METHOD = LogicLNCL(limits=TrainingLimits(epochs=3, held_out=None))
TAGGING = LogicLNCL(limits=TrainingLimits(epochs=2, held_out=None))
WORDY = "1: InList(S, 'words.txt') -> Label(S, 'positive')\n1.0: include contrast('but')\n"


@cache
def sound_runs() -> dict[str, Path]:
    """Small runs: done, of tags, and one that was stopped."""
    home = Path("runs").resolve()
    home.mkdir(exist_ok=True)
    (home / "words.txt").write_text("good\n")
    (home / "my.rules").write_text(WORDY)
    rules = read_rules(home / "my.rules")
    data = TrainingData(corpus=REVIEWS.corpus, labels=REVIEWS.labels, rules=rules)
    tags = TrainingData(corpus=SENTENCES.corpus, labels=SENTENCES.labels, rules=parse_rules("1.0: include bio"))
    train_run(home / "done", METHOD, data)
    train_run(home / "tags", TAGGING, tags)
    with contextlib.suppress(StopError):
        train_run(home / "stopped", METHOD, data, callback=_stop)
    save_estimate(home / "estimate", DawidSkene().infer(REVIEWS.labels))
    save_estimate(home / "estimate-tags", DawidSkene().infer(SENTENCES.labels))
    save_estimate(home / "estimate-glad", GLAD().infer(REVIEWS.labels))
    return {path.name: path for path in home.iterdir() if path.is_dir()}


def tamper(folder: Path, rng: Rng) -> None:
    """Change a file of a run, an estimate or a checkpoint, and make its checksums fit."""
    path = pick(rng, sorted(one for one in folder.rglob("*") if one.is_file() and one.name != "SHA256SUMS"))
    if rng.random() < 0.1:
        path.write_bytes(mutate_bytes(path.read_bytes(), rng, []))
    elif path.suffix == ".safetensors":
        put_arrays(path, mutate_arrays(get_arrays(path), rng))
    elif path.suffix == ".parquet":
        mutate_table(pl.read_parquet(path), rng).write_parquet(path)
    elif path.name == "state.json":
        sealed = json.loads(path.read_text())
        sealed["content"] = mutate_json(sealed["content"], rng)
        path.write_text(json.dumps(sealed))
    elif path.suffix == ".json":
        path.write_text(json.dumps(mutate_json(json.loads(path.read_text()), rng)))
    elif path.suffix == ".jsonl":
        rows = mutate_json([json.loads(line) for line in path.read_text().splitlines()], rng)
        path.write_text("".join(json.dumps(row) + "\n" for row in rows) if isinstance(rows, list) else "3\n")
    else:
        path.write_bytes(mutate_bytes(path.read_bytes(), rng, []))
    if rng.random() < 0.9:
        with contextlib.suppress(KeyError, ValueError, TypeError, CrowdLogicError):
            reseal(folder)


def attack_run(folder: Path, rng: Rng) -> None:
    """A tampered run: loaded, asked for predictions and explanations, and reported on."""
    name = pick(rng, ["done", "done", "tags"])
    home = Path(shutil.copytree(sound_runs()[name], folder / "run"))
    tamper(home, rng)
    if rng.random() < 0.3:
        record = read_run(home)
        check_record(home, record)
        to_html(report_on(inputs_from_run(record)))
    run = load_run(home)
    made = SENTENCES if name == "tags" else REVIEWS
    predicted = run.predict(made.test)
    if not np.isfinite(predicted).all():
        raise AssertionError("a prediction is not finite")
    run.explain(run.estimate.items[0])
    if rng.random() < 0.3:
        to_html(report_on(inputs_from_run(run.record)))


def attack_checkpoint(folder: Path, rng: Rng) -> None:
    """A tampered run that was stopped: the training goes on, or is refused."""
    home = Path(shutil.copytree(sound_runs()["stopped"], folder / "run"))
    tamper(home, rng)
    rules = read_rules(sound_runs()["stopped"].parent / "my.rules")
    train_run(home, METHOD, TrainingData(corpus=REVIEWS.corpus, labels=REVIEWS.labels, rules=rules), resume=True)


def attack_estimate(folder: Path, rng: Rng) -> None:
    """A tampered estimate: read, shown, reported on."""
    name = pick(rng, ["estimate", "estimate-tags", "estimate-glad"])
    home = Path(shutil.copytree(sound_runs()[name], folder / "estimate"))
    tamper(home, rng)
    found = load_estimate(home)
    found.to_frame()
    made = SENTENCES if name == "estimate-tags" else REVIEWS
    DawidSkene().infer(made.labels, fitting=Fitting(start=found))
    if rng.random() < 0.2:
        to_html(report_on(inputs_from_estimate(found, made.labels, made.corpus)))


@cache
def sound_states() -> dict[str, Path]:
    """The checkpoints of fits that were stopped."""
    found = {}
    for method in (DawidSkene(), GLAD()):
        path = Path(f"{method.name}.checkpoint").resolve()

        def stop(progress: Any) -> None:
            if progress.iteration == 3:
                raise StopError

        with contextlib.suppress(StopError):
            method.infer(REVIEWS.labels, fitting=Fitting(checkpoint=path, every=1, progress=stop))
        found[method.name] = path
    return found


def attack_state(folder: Path, rng: Rng) -> None:
    """The tampered checkpoint of a truth method: the fit goes on to finite beliefs, or is refused."""
    method = pick(rng, [DawidSkene(), GLAD()])
    path = folder / "checkpoint"
    shutil.copy(sound_states()[method.name], path)
    if rng.random() < 0.3:
        path.write_bytes(mutate_bytes(path.read_bytes(), rng, []))
    else:
        arrays, metadata = get_arrays_and_metadata(path)
        arrays = mutate_arrays(arrays, rng)
        put_arrays(path, arrays, metadata=metadata | {"sha256": arrays_sha256(arrays)})
    if not np.isfinite(method.infer(REVIEWS.labels, fitting=Fitting(checkpoint=path)).beliefs).all():
        raise AssertionError("a belief is not finite")


OPTIONS = [
    "projector.strength",
    "classifier",
    "classifier.ridge",
    "limits.epochs",
    "limits",
    "imitation.k",
    "annotators.trust",
    "x",
    "a.b.c",
]


def attack_options(folder: Path, rng: Rng) -> None:
    """Options from --set, and from plain data as config.json holds them."""
    text = f"{pick(rng, OPTIONS)}={mutate_bytes(b'0.5', rng, []).decode('utf-8', 'replace')}"
    decode_options(METHOD, parse_changes([text]))
    decode_options(METHOD, {pick(rng, OPTIONS).split(".")[0]: pick(rng, VALUES)})


def attack_commands(folder: Path, rng: Rng) -> None:
    """A command on a mutated file or a tampered run."""
    attack_command(folder, rng, files=sound_files(), runs=sound_runs(), tamper=tamper)


HAS_REVIEW = find_spec("fastapi") is not None and find_spec("crowdlogic.extensions.review") is not None
REQUESTS_SHARE = 5 if HAS_REVIEW else 0

TARGETS = (
    Target("files", 270 - REQUESTS_SHARE, attack_file),
    Target("exports", 120, attack_export),
    Target("commands", 100, attack_commands),
    Target("rules", 150, attack_rules),
    Target("vectors", 50, attack_vectors),
    Target("runs", 60, attack_run),
    Target("estimates", 60, attack_estimate),
    Target("checkpoints", 10, attack_checkpoint),
    Target("states", 50, attack_state),
    Target("options", 30, attack_options),
    Target("methods", 80, attack_methods),
    Target("trainings", 20, attack_training),
    *([Target("requests", REQUESTS_SHARE, attack_requests)] if HAS_REVIEW else []),
)


def attack_once(number: int, seed: int, folder: Path) -> str:
    """Make and run input `number`; the name of its target."""
    shares = np.cumsum([target.share for target in TARGETS])
    target = TARGETS[int(np.searchsorted(shares, number * 617 % 1000, side="right"))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with contextlib.suppress(CrowdLogicError):
            target.attack(folder, np.random.default_rng([seed, number]))
    return target.name


def target_name(number: int) -> str:
    """The target of input `number`."""
    shares = np.cumsum([target.share for target in TARGETS])
    return TARGETS[int(np.searchsorted(shares, number * 617 % 1000, side="right"))].name
