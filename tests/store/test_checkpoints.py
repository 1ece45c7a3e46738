"""A checkpoint is the one before an epoch or the one after it, whenever the process dies."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from crowdlogic.errors import FormatError, MissingDataError, OptionError
from crowdlogic.store import checkpoints, files
from crowdlogic.store.checkpoints import RunCheckpoint, StateCheckpoint
from crowdlogic.store.checksums import arrays_sha256

OWNER = {"labels": "1", "options": "2"}
WORDS = np.frombuffer(b'["a"]', dtype=np.uint8)


class CrashError(Exception):
    """The process dies here."""


def epoch(number: int, chosen: int) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """What a course hands over after an epoch: all numbers tell which epoch they are of."""

    def classifier(at: int) -> dict[str, Any]:
        return {
            "classifier.fixed.words": WORDS,
            "classifier.model.w": np.full((2, 3), float(at)),
            "classifier.progress.epoch": np.array(at),
        }

    last = {**classifier(number), "q_f": np.full((4, 2), number / 10)}
    best = {**classifier(chosen), "q_f": np.full((4, 2), chosen / 10), "confusion": np.full((1, 2, 2), chosen / 10)}
    history = [{"epoch": t, "stopping": -1.5 * t, "scores": {"dev": 0.1 + t}} for t in range(1, number + 1)]
    return last, best, {"best_epoch": chosen, "best": {"loss": 0.1, "k": 0.2}, "history": history}


def keeper(folder: Path, owner: dict[str, str] = OWNER) -> RunCheckpoint:
    return RunCheckpoint(folder, owner)


def same(found: Any, expected: Any) -> bool:
    """Whether a checkpoint is exactly the one that was saved."""
    if found is None or found[2] != expected[2]:
        return False
    return all(
        kept.keys() == given.keys() and all(np.array_equal(kept[name], given[name]) for name in given)
        for kept, given in zip(found[:2], expected[:2], strict=True)
    )


@pytest.mark.parametrize(("number", "chosen"), [(1, 1), (3, 2), (3, 3)])
def test_what_was_saved_is_loaded_to_the_bit(tmp_path: Path, number: int, chosen: int) -> None:
    saved = epoch(number, chosen)
    keeper(tmp_path).save(*saved)

    last, best, note = keeper(tmp_path).load() or ({}, {}, {})

    assert note == saved[2]
    for kept, given in ((last, saved[0]), (best, saved[1])):
        assert given.keys() <= kept.keys()
        for name, array in given.items():
            np.testing.assert_array_equal(kept[name], array)
            assert (kept[name].dtype, kept[name].shape) == (array.dtype, array.shape)


def test_there_is_nothing_to_load_before_the_first_epoch(tmp_path: Path) -> None:
    assert keeper(tmp_path).load() is None


def test_old_files_go_and_the_history_grows(tmp_path: Path) -> None:
    kept = keeper(tmp_path)
    for number, chosen in ((1, 1), (2, 2), (3, 2), (4, 2)):
        kept.save(*epoch(number, chosen))

    assert sorted(file.name for file in (tmp_path / "checkpoint").iterdir()) == [
        "best-0002.safetensors",
        "fixed.safetensors",
        "last-0004.safetensors",
        "state.json",
    ]
    assert [json.loads(line)["epoch"] for line in (tmp_path / "history.jsonl").read_text().splitlines()] == [1, 2, 3, 4]


def test_what_never_changes_is_written_once(tmp_path: Path) -> None:
    kept = keeper(tmp_path)
    kept.save(*epoch(1, 1))
    first = (tmp_path / "checkpoint" / "fixed.safetensors").stat()

    kept.save(*epoch(2, 2))
    resumed = keeper(tmp_path)
    resumed.load()
    resumed.save(*epoch(3, 2))

    after = (tmp_path / "checkpoint" / "fixed.safetensors").stat()
    assert (first.st_ino, first.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)
    for name in ("best-0002.safetensors", "last-0003.safetensors"):
        assert "classifier.fixed.words" not in files.get_arrays(tmp_path / "checkpoint" / name)


def test_the_best_epoch_is_not_written_again(tmp_path: Path) -> None:
    kept = keeper(tmp_path)
    kept.save(*epoch(2, 2))
    first = (tmp_path / "checkpoint" / "best-0002.safetensors").stat().st_ino

    kept.save(*epoch(3, 2))

    assert (tmp_path / "checkpoint" / "best-0002.safetensors").stat().st_ino == first


@pytest.mark.parametrize("before", [(1, 1), (2, 1)])
@pytest.mark.parametrize("after_best", [True, False])
def test_a_crash_at_any_write_leaves_the_state_before_or_after(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, before: tuple[int, int], after_best: bool
) -> None:
    number = before[0] + 1
    old, new = epoch(*before), epoch(number, number if after_best else before[1])
    outcomes = set()
    for deadly in range(12):
        folder = tmp_path / f"{deadly}"
        folder.mkdir()
        kept = keeper(folder)
        kept.save(*old)
        with monkeypatch.context() as patched:
            moves = dying_at(patched, deadly)
            with contextlib.suppress(CrashError):
                kept.save(*new)
        found = keeper(folder).load()

        is_old, is_new = same(trimmed(found), old), same(trimmed(found), new)
        assert is_old or is_new
        outcomes.add(("old" if is_old else "new", moves[0] <= deadly))
        again = keeper(folder)
        again.load()
        again.save(*epoch(number + 1, number))
        assert len(list((folder / "checkpoint").iterdir())) == 4

    assert {("old", False), ("new", True)} <= outcomes


def trimmed(found: Any) -> Any:
    """A checkpoint whose last epoch is the best one is kept as one, so that `last` has more than it was given."""
    if found is None:
        return None
    last = {name: array for name, array in found[0].items() if name != "confusion"}
    return last, found[1], found[2]


def dying_at(patched: pytest.MonkeyPatch, deadly: int) -> list[int]:
    """Die before the n-th rename or removal; how many there were."""
    moves = [0]
    rename, unlink = Path.replace, Path.unlink

    def step() -> None:
        moves[0] += 1
        if moves[0] > deadly:
            raise CrashError

    def replace(self: Path, target: Path) -> Path:
        step()
        return rename(self, target)

    def remove(self: Path, missing_ok: bool = False) -> None:
        if not self.name.endswith(".part"):
            step()
        unlink(self, missing_ok=missing_ok)

    patched.setattr(Path, "replace", replace)
    patched.setattr(Path, "unlink", remove)
    return moves


def test_arrays_of_a_fit_that_died_before_its_first_checkpoint_are_not_taken_over(tmp_path: Path) -> None:
    place = tmp_path / "checkpoint"
    place.mkdir()
    files.put_arrays(place / checkpoints.FIXED_FILE, {"classifier.fixed.words": np.zeros(9, np.uint8)})

    kept = keeper(tmp_path)
    assert kept.load() is None
    kept.save(*epoch(1, 1))

    found = keeper(tmp_path).load()
    assert found is not None
    np.testing.assert_array_equal(found[0]["classifier.fixed.words"], WORDS)


def test_a_checkpoint_of_another_fit_is_refused_by_what_differs(tmp_path: Path) -> None:
    keeper(tmp_path).save(*epoch(1, 1))

    with pytest.raises(OptionError) as refused:
        keeper(tmp_path, {"labels": "other", "options": "2", "rules": "3"}).load()

    assert str(refused.value) == (
        f"{tmp_path}: the checkpoint belongs to a fit with other labels, rules. Use those of the interrupted run, "
        "or name another folder."
    )


def test_a_damaged_checkpoint_is_one_line(tmp_path: Path) -> None:
    keeper(tmp_path).save(*epoch(2, 1))
    (tmp_path / "checkpoint" / "last-0002.safetensors").unlink()

    with pytest.raises(MissingDataError, match=r"last-0002.safetensors is missing. The run is damaged"):
        keeper(tmp_path).load()
    (tmp_path / "checkpoint" / "state.json").write_text("[1]")
    with pytest.raises(FormatError, match=r"state.json: is not a checkpoint. Remove the run and start over."):
        keeper(tmp_path).load()


def test_a_finished_run_keeps_no_checkpoint(tmp_path: Path) -> None:
    kept = keeper(tmp_path)
    kept.save(*epoch(1, 1))

    kept.remove()

    assert [file.name for file in tmp_path.iterdir()] == ["history.jsonl"]


STATE = {"confusion": np.random.default_rng(0).dirichlet(np.ones(3), size=(2, 3)), "prior": np.array([0.2, 0.8])}
TRACE = [-3.0, -2.5, -2.25]


def test_a_state_and_its_trace_come_back_to_the_bit(tmp_path: Path) -> None:
    checkpoint = StateCheckpoint(tmp_path / "new" / "fit.safetensors", "me")
    before = checkpoint.read()

    checkpoint.write(STATE, TRACE)
    state, trace = checkpoint.read() or ({}, [])

    assert before is None
    assert trace == TRACE
    assert state.keys() == STATE.keys()
    for name, array in STATE.items():
        np.testing.assert_array_equal(state[name], array)
    assert [file.name for file in (tmp_path / "new").iterdir()] == ["fit.safetensors"]


def test_a_crash_leaves_the_old_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = StateCheckpoint(tmp_path / "fit", "me")
    checkpoint.write(STATE, TRACE)

    with monkeypatch.context() as patched:
        dying_at(patched, 0)
        with pytest.raises(CrashError):
            checkpoint.write({"prior": np.zeros(2)}, [])

    state, trace = checkpoint.read() or ({}, [])
    np.testing.assert_array_equal(state["prior"], STATE["prior"])
    assert trace == TRACE


def test_a_state_of_another_fit_is_refused(tmp_path: Path) -> None:
    StateCheckpoint(tmp_path / "fit", "me").write(STATE, TRACE)

    with pytest.raises(OptionError) as refused:
        StateCheckpoint(tmp_path / "fit", "you").read()

    assert str(refused.value) == (
        f"The checkpoint {tmp_path / 'fit'} belongs to another fit: its method, options, labels or words differ. "
        f"Name another file, or remove it to start over."
    )


def test_a_file_that_is_no_state_is_refused(tmp_path: Path) -> None:
    (tmp_path / "fit").write_bytes(b"rubbish")

    with pytest.raises(FormatError) as refused:
        StateCheckpoint(tmp_path / "fit", "me").read()

    assert str(refused.value).startswith(f"{tmp_path / 'fit'} is not a checkpoint: Error while deserializing")
    assert str(refused.value).endswith(". Remove it to start over.")


def test_a_fit_that_is_done_leaves_no_state(tmp_path: Path) -> None:
    checkpoint = StateCheckpoint(tmp_path / "fit", "me")
    checkpoint.write(STATE, TRACE)

    checkpoint.remove()
    checkpoint.remove()

    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_reads_no_file_outside_its_folder(tmp_path: Path) -> None:
    keeper(tmp_path).save(*epoch(2, 1))
    path = tmp_path / "checkpoint" / "state.json"
    state = json.loads(path.read_text())["content"]
    state["files"]["best"] = "../checkpoint/last-0002.safetensors"
    path.write_bytes(checkpoints._seal(state))

    with pytest.raises(FormatError) as refused:
        keeper(tmp_path).load()

    assert str(refused.value) == (
        f"{path}: '../checkpoint/last-0002.safetensors' is not the name of a checkpoint file. "
        "Remove the run and start over."
    )


def test_what_only_the_last_epoch_has_is_saved_beside_the_best(tmp_path: Path) -> None:
    last, best, note = epoch(2, 2)
    keeper(tmp_path).save({**last, "factors": np.array([0.5])}, best, note)

    found = keeper(tmp_path).load()

    assert found is not None
    np.testing.assert_array_equal(found[0]["factors"], [0.5])
    assert "factors" not in found[1]


@pytest.mark.parametrize("name", ["state.json", "fixed.safetensors", "best-0001.safetensors", "last-0002.safetensors"])
def test_a_flipped_bit_in_a_checkpoint_is_noticed(tmp_path: Path, name: str) -> None:
    keeper(tmp_path).save(*epoch(2, 1))
    path = tmp_path / "checkpoint" / name
    content = bytearray(path.read_bytes())
    content[-20] ^= 1
    path.write_bytes(content)

    with pytest.raises(
        FormatError, match=f"{name}: (the file has changed since it was written|is not valid JSON|is not a checkpoint)"
    ):
        keeper(tmp_path).load()


def test_a_link_in_the_place_of_the_checkpoint_is_neither_followed_nor_emptied(tmp_path: Path) -> None:
    outside, run = tmp_path / "outside", tmp_path / "run"
    outside.mkdir()
    run.mkdir()
    (outside / "state.json").write_text("precious")
    (run / "checkpoint").symlink_to(outside)

    for attempt in (lambda: keeper(run).save(*epoch(1, 1)), lambda: keeper(run).load()):
        with pytest.raises(
            FormatError, match=r"checkpoint in it is a symbolic link\. A run may only contain regular files"
        ):
            attempt()
    keeper(run).remove()

    assert (outside / "state.json").read_text() == "precious"
    assert [file.name for file in outside.iterdir()] == ["state.json"]


def test_only_files_that_a_checkpoint_named_are_removed(tmp_path: Path) -> None:
    kept = keeper(tmp_path)
    kept.save(*epoch(1, 1))
    (tmp_path / "checkpoint" / "thesis.tex").write_text("mine")
    (tmp_path / "checkpoint" / ".state.json.abcdef12.part").write_text("half")

    kept.save(*epoch(2, 2))
    kept.remove()

    assert [file.name for file in (tmp_path / "checkpoint").iterdir()] == ["thesis.tex"]


def test_a_flipped_bit_in_a_state_is_noticed(tmp_path: Path) -> None:
    checkpoint = StateCheckpoint(tmp_path / "fit", "me")
    checkpoint.write(STATE, TRACE)
    content = bytearray((tmp_path / "fit").read_bytes())
    content[-5] ^= 1
    (tmp_path / "fit").write_bytes(content)

    with pytest.raises(FormatError, match=r"fit: the checkpoint is damaged \(its SHA-256 differs\)\. Remove it"):
        checkpoint.read()


@pytest.mark.parametrize(
    "trace", [None, np.array([np.nan]), np.zeros((2, 2)), np.array(["x"], dtype="S1").view(np.uint8)]
)
def test_a_state_without_a_sound_trace_is_refused(tmp_path: Path, trace: Any) -> None:
    arrays = {"state.prior": STATE["prior"]} | ({} if trace is None else {"trace": trace})
    metadata = {"owner": "me", "sha256": arrays_sha256(arrays)}
    files.put_arrays(tmp_path / "fit", arrays, metadata=metadata)

    with pytest.raises(FormatError, match=r"the checkpoint is damaged \(its trace\)"):
        StateCheckpoint(tmp_path / "fit", "me").read()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"prior": None}, "the checkpoint contains confusion, but confusion, prior are expected"),
        ({"more": np.zeros(1)}, "the checkpoint contains confusion, prior, more, but confusion, prior are expected"),
        ({"prior": np.zeros(3)}, r"prior is float64 \(3,\), expected float64 \(2,\)"),
        ({"prior": np.zeros(2, np.float32)}, r"prior is float32 \(2,\), expected float64 \(2,\)"),
        ({"prior": np.array([np.nan, 1])}, "prior contains NaN or infinities"),
        ({"prior": np.array([1e300, 1])}, "prior contains NaN or infinities"),
        ({"prior": np.array([-1.0, 1])}, "prior contains negative numbers"),
    ],
)
def test_a_state_must_be_like_the_one_that_the_fit_begins_with(changes: dict[str, Any], message: str) -> None:
    state = {name: array for name, array in (STATE | changes).items() if array is not None}

    with pytest.raises(FormatError, match=message):
        StateCheckpoint(Path("fit"), "me").require_like(state, STATE, signed=False)

    StateCheckpoint(Path("fit"), "me").require_like(STATE, STATE, signed=False)
    StateCheckpoint(Path("fit"), "me").require_like({"a": np.array([-1.0])}, {"a": np.ones(1)}, signed=True)
