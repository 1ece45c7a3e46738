"""The command is interrupted in one line, even while its modules are loaded."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from crowdlogic.__main__ import main


@pytest.fixture(autouse=True)
def handlers() -> Iterator[None]:
    """Give this process its signal handlers back: a command ignores signals once it has ended."""
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    yield
    for one, handler in before.items():
        signal.signal(one, handler)


class InterruptedImport:
    """What finds modules, and is interrupted by Ctrl-C instead."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: Any = None) -> None:
        if name == "crowdlogic.cli.app":
            raise KeyboardInterrupt


def test_an_interrupt_while_modules_are_loaded_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "crowdlogic.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [InterruptedImport(), *sys.meta_path])

    with pytest.raises(SystemExit) as stopped:
        main()

    assert stopped.value.code == 130
    assert capsys.readouterr().err == "crowdlogic: interrupted\n"


def test_a_signal_after_the_end_changes_no_exit_code() -> None:
    code = (
        "import atexit, os, signal, sys; from crowdlogic.__main__ import main; sys.argv = ['crowdlogic', '--version']; "
        "atexit.register(os.kill, os.getpid(), signal.{}); main()"
    )
    for name in ("SIGTERM", "SIGINT"):
        done = subprocess.run([sys.executable, "-c", code.format(name)], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_a_signal_in_code_run_by_an_extension_module_keeps_the_exit_code(name: str, tmp_path: Path) -> None:
    (tmp_path / "probe.py").write_text(f"""
import ctypes, sys
from crowdlogic.cli.console import catch_termination
catch_termination()
run = ctypes.pythonapi.PyRun_String  # which numpy and others use while they are imported
run.restype, run.argtypes = ctypes.py_object, [ctypes.c_char_p, ctypes.c_int, ctypes.py_object, ctypes.py_object]
try:
    run(b"import os, signal; os.kill(os.getpid(), signal.{name}); [None for _ in range(10**6)]", 257, {{}}, {{}})
except KeyboardInterrupt:
    sys.exit(7)
""")

    done = subprocess.run([sys.executable, "-m", "probe"], cwd=tmp_path, check=False)

    assert done.returncode == 7


def test_the_command_is_run(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["crowdlogic", "--version"])

    with pytest.raises(SystemExit) as stopped:
        main()

    assert stopped.value.code == 0
    assert capsys.readouterr().out.strip()


@pytest.mark.parametrize(("words", "code"), [(["--version"], 0), (["no-such-command"], 2)])
def test_the_process_ends_with_the_code_of_the_command_and_all_that_it_said(words: list[str], code: int) -> None:
    found = subprocess.run([sys.executable, "-m", "crowdlogic", *words], capture_output=True, text=True, check=False)

    assert found.returncode == code
    assert (found.stdout if code == 0 else found.stderr).endswith("\n")
