"""A disk that is full, memory that ran out, Ctrl-C at any moment: one line, an exit code, and a run that can be resumed."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.conftest import CSV, WORDS, write_simulated

from crowdlogic.data.simulate import simulate_sentiment


def crowdlogic(
    *words: object, largest: int | None = None, memory: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, in which no file grows beyond a size."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        if largest is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
        if memory is not None:
            resource.setrlimit(resource.RLIMIT_AS, (memory, memory))

    return subprocess.run(
        [sys.executable, "-m", "crowdlogic", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=limit,
        timeout=120,
    )


@pytest.fixture
def simulated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_simulated(simulate_sentiment(2, items=150, test_items=40, annotators=12, labels_per_item=3))


@pytest.mark.parametrize("largest", [100, 2_000, 6_000, 20_000])
@pytest.mark.usefixtures("simulated")
def test_a_disk_that_is_full_during_a_training_is_one_line_and_the_run_goes_on(largest: int) -> None:
    words = (*WORDS, "--rules", "but.rules", "--epochs", 3, "-o", "model")

    stopped = crowdlogic(*words, largest=largest)
    left = Path("model").exists()
    resumed = crowdlogic("train", "--resume", "-o", "model") if left else crowdlogic(*words)

    lines = [line for line in stopped.stderr.splitlines() if line.startswith("crowdlogic: ")]
    assert stopped.returncode == 2
    assert "Traceback" not in stopped.stderr
    assert len(lines) == 1
    assert "model" in lines[0]
    assert "File too large" in lines[0]
    assert ("crowdlogic train --resume -o model" in lines[0]) == left
    assert resumed.returncode == 0, resumed.stderr
    assert not list(Path("model").rglob("*.part"))


@pytest.mark.usefixtures("simulated")
def test_a_disk_that_is_full_of_a_workbook_is_one_line() -> None:
    done = crowdlogic("convert", WORDS[WORDS.index("--labels") + 1], "labels.xlsx", largest=2000)

    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "File too large" in done.stderr
    assert not list(Path().glob("*.xlsx"))


@pytest.mark.parametrize("megabytes", [200, 600, 900, 1600])
def test_a_process_with_little_memory_ends(tmp_path: Path, megabytes: int) -> None:
    (tmp_path / "l.csv").write_text(CSV)

    done = crowdlogic("aggregate", tmp_path / "l.csv", "-o", tmp_path / "t.csv", memory=megabytes << 20)

    assert done.returncode == (0 if megabytes == 1600 else 2)
    if done.returncode:
        assert f"crowdlogic: this process may use {megabytes} MiB of memory" in done.stderr
        assert len(done.stderr.splitlines()) == 1


@pytest.mark.usefixtures("simulated")
def test_interrupts_in_the_first_moments_are_one_line() -> None:
    command = [sys.executable, "-m", "crowdlogic", *WORDS, "--epochs", "200", "-o", "model"]
    interrupted = 0
    for wait in (0.15, 0.3, 0.6, 1.0, 1.5):
        begun = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        time.sleep(wait)
        was_running = begun.poll() is None
        begun.send_signal(signal.SIGINT)
        said = begun.communicate(timeout=60)[1]

        if was_running and begun.returncode != 0:  # a quick machine may be done by then
            interrupted += 1
            assert begun.returncode in (130, -signal.SIGINT), said
        if begun.returncode == 130:
            assert "Traceback" not in said
            assert "interrupted" in said.splitlines()[-1]
        subprocess.run([sys.executable, "-c", "import shutil; shutil.rmtree('model', ignore_errors=True)"], check=True)
    assert interrupted >= 3


@pytest.mark.usefixtures("simulated")
def test_sigterm_is_one_line_and_exit_code_143() -> None:
    command = [sys.executable, "-m", "crowdlogic", *WORDS, "--epochs", "2000", "-o", "model"]
    begun = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 60
    while not Path("model/history.jsonl").exists() and time.monotonic() < until:
        time.sleep(0.05)

    begun.send_signal(signal.SIGTERM)
    said = begun.communicate(timeout=60)[1]
    resumed = crowdlogic("train", "--resume", "-o", "model", "--epochs", 3)

    assert begun.returncode == 143
    assert "Traceback" not in said
    assert "Resume it with crowdlogic train --resume -o model" in said.splitlines()[-1]
    assert not list(Path().rglob("*.part"))
    assert resumed.returncode == 0, resumed.stderr


def test_sigterm_ends_a_command_that_waits_for_its_input() -> None:
    begun = subprocess.Popen(
        [sys.executable, "-m", "crowdlogic", "aggregate", "-", "-o", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(1.5)

    begun.send_signal(signal.SIGTERM)
    out, said = begun.communicate(timeout=60)

    assert (begun.returncode, out, said) == (143, "", "crowdlogic: terminated\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_standard_output_on_a_full_disk_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(CSV)
    for words in (["agreement", "l.csv"], ["aggregate", "l.csv", "-o", "-"], ["--help"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run(
                [sys.executable, "-m", "crowdlogic", *words],
                stdout=full,
                stderr=subprocess.PIPE,
                text=True,
                check=False,
                cwd=tmp_path,
                env={**os.environ},
            )

        assert done.returncode == 2, words
        said = [line for line in done.stderr.splitlines() if line.startswith("crowdlogic: ")]
        assert said == ["crowdlogic: the output: No space left on device. Check the path and the disk."]
        assert "Exception ignored" not in done.stderr
