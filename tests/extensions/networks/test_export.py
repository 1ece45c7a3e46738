from __future__ import annotations

from pathlib import Path

from tests.extensions.networks.small_runs import CONTRAST, train_reviews

from crowdlogic import Linear


def test_a_run_is_exported(run, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    train_reviews(Path("trained"), Linear(), CONTRAST)

    done = run("export", "trained", "--to", "onnx", "-o", "model")

    assert done.code == 0
    assert "onnx: manifest.json, model.onnx, predict.py -> model" in done.err
    assert "predict --student" in done.err


def test_what_is_no_run_is_one_line(run) -> None:  # type: ignore[no-untyped-def]
    done = run("export", "nowhere", "--to", "onnx", "-o", "model")

    assert done.code == 2
    assert len(done.err.splitlines()) == 1
