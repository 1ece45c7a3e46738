from __future__ import annotations

import os

import polars as pl
import pytest

from crowdlogic.data.formats.tables import hold_back_panics


def say_and_raise(said: bytes, problem: BaseException) -> None:
    with hold_back_panics():
        os.write(2, said)
        raise problem


def test_what_rust_says_of_a_panic_is_held_back(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(pl.exceptions.PanicException):
        say_and_raise(b"thread panicked at somewhere.rs\n", pl.exceptions.PanicException("a panic"))

    assert capfd.readouterr().err == ""


def test_everything_else_is_written_in_the_end(capfd: pytest.CaptureFixture[str]) -> None:
    with hold_back_panics():
        os.write(2, b"a warning\n")
    with pytest.raises(ValueError, match="x"):
        say_and_raise(b"another\n", ValueError("x"))

    assert capfd.readouterr().err == "a warning\nanother\n"


def test_a_process_without_standard_error_reads_all_the_same() -> None:
    kept = os.dup(2)
    os.close(2)
    try:
        with hold_back_panics():
            done = True
    finally:
        os.dup2(kept, 2)
        os.close(kept)

    assert done
