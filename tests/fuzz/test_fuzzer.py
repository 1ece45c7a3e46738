"""A short slice of the fuzzer, and that it finds what there is to find."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz import fuzzer, targets
from tests.fuzz.fuzzer import fuzz
from tests.fuzz.targets import TARGETS, target_name


def test_a_short_slice_finds_nothing() -> None:
    outcome = fuzz(400, seed=21)

    assert outcome.findings == []
    assert sum(outcome.done.values()) == 400
    assert outcome.done.keys() == {target.name for target in TARGETS}


def test_every_target_has_its_share() -> None:
    assert sum(target.share for target in TARGETS) == 1000
    counts = {target.name: sum(target_name(number) == target.name for number in range(1000)) for target in TARGETS}
    assert counts == {target.name: target.share for target in TARGETS}


def test_an_input_is_the_same_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    number = next(number for number in range(100) if target_name(number) == "vectors")
    made = []
    monkeypatch.setattr(targets, "read_vectors", lambda path: made.append(path.read_bytes()) or targets.sound_files)
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        with pytest.raises(AttributeError):
            targets.attack_once(number, 5, tmp_path / name)

    assert made[0] == made[1]


SICK = """
import os, sys, time
for number in range(int(sys.argv[1]), 4):
    print(f"begin {number} sick", flush=True)
    if number == 0:
        print("found 0 'ValueError: x' 'line 1'", flush=True)
    if number == 1:
        os.abort()
    if number == 2:
        time.sleep(60)
    print(f"end {number}", flush=True)
"""


def test_exceptions_aborts_and_hangs_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    import subprocess
    import sys

    monkeypatch.setattr(fuzzer, "SECONDS", 0.5)
    monkeypatch.setattr(fuzzer, "STARTING", 20.0)
    outcome, first = fuzzer.Outcome(), 0
    while first < 4:
        with subprocess.Popen([sys.executable, "-c", SICK, str(first)], stdout=subprocess.PIPE) as process:
            first = fuzzer._follow(process, first, 4, outcome)

    assert outcome.findings == [
        "sick 0 'ValueError: x' 'line 1'",
        "sick 1: the process ended with -6",
        "sick 2: took more than 0.5 s",
    ]
    assert outcome.done == {"sick": 2}
