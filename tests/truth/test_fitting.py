"""How truth methods are fitted: warnings, progress, warm starts, checkpoints that survive a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.truth.planted import planted

from crowdlogic.data.estimate import Estimate
from crowdlogic.data.frames import from_sequences
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.errors import ConvergenceWarning, FormatError, OptionError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.store.checksums import arrays_sha256
from crowdlogic.store.files import get_arrays_and_metadata, put_arrays
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.ebcc import EBCC
from crowdlogic.truth.fitting import Fitting, Progress, starting_beliefs
from crowdlogic.truth.glad import GLAD
from crowdlogic.truth.methods import needs_sequences, truth_method

ITERATIVE = ["dawid-skene", "one-coin", "ibcc", "ebcc", "glad", "mace"]


def test_stopping_early_warns_with_the_number() -> None:
    labels = planted(0).labels

    with pytest.warns(ConvergenceWarning) as caught:
        estimate = DawidSkene(convergence=Convergence(max_iterations=3)).infer(labels)

    gain = (estimate.trace[-1] - estimate.trace[-2]) / labels.n_labels
    assert str(caught[0].message) == (
        f"dawid-skene stopped after 3 iterations before it converged; the last one gained {gain:.3g} per label (tolerance "
        f"1e-07). Raise max_iterations, or raise tolerance if this is close enough."
    )
    assert not estimate.converged
    assert len(estimate.trace) == 3


@pytest.mark.parametrize("name", ITERATIVE)
def test_a_converged_fit_says_so_and_does_not_warn(name: str) -> None:
    estimate = truth_method(name).infer(planted(1).labels)

    assert estimate.converged


def test_progress_is_called_after_each_iteration() -> None:
    calls: list[Progress] = []

    estimate = DawidSkene().infer(planted(2).labels, fitting=Fitting(progress=calls.append))

    assert [one.iteration for one in calls] == list(range(1, len(estimate.trace) + 1))
    np.testing.assert_array_equal([one.objective for one in calls], estimate.trace)
    assert calls[0].gain == np.inf
    assert calls[-1].gain <= 1e-7


@pytest.mark.parametrize("name", ITERATIVE)
def test_a_warm_start_from_the_answer_stays_there_and_is_quick(name: str) -> None:
    labels = planted(3, units=120).labels
    cold = truth_method(name).infer(labels)

    warm = truth_method(name).infer(labels, fitting=Fitting(start=cold))

    np.testing.assert_allclose(warm.beliefs, cold.beliefs, rtol=0, atol=2e-2)
    assert len(warm.trace) <= max(len(cold.trace), 12)


def test_a_start_is_found_by_name_and_unknown_items_start_from_votes() -> None:
    labels = planted(4).labels
    old = DawidSkene().infer(labels.take_items(np.arange(30)).with_classes(("c", "a", "b")))
    turned = labels.take_items(np.arange(59, -1, -1))

    q = starting_beliefs(turned, Fitting(start=old))

    np.testing.assert_allclose(q[59 - np.arange(30)], old.beliefs[:, [1, 2, 0]], rtol=1e-12)
    votes = labels.votes()
    np.testing.assert_allclose(q[0], votes[59] / votes[59].sum(), rtol=1e-12)


def test_a_start_over_sequences_is_found_by_name_and_length() -> None:
    rows = [("s", "w", ["a", "b"]), ("t", "w", ["b", "b", "a"]), ("u", "w", ["a"])]
    old = DawidSkene().infer(from_sequences(rows))
    new = from_sequences([("u", "w", ["b"]), ("s", "w", ["a", "b"]), ("t", "w", ["a", "a"])])

    q = starting_beliefs(new, Fitting(start=old))

    np.testing.assert_allclose(q[0], old.beliefs[5], rtol=1e-12)
    np.testing.assert_allclose(q[1:3], old.beliefs[0:2], rtol=1e-12)
    np.testing.assert_allclose(q[3:], [[1, 0], [1, 0]], rtol=1e-12)


KILLED = """
import sys, time, pathlib
from tests.truth.planted import planted
from crowdlogic.truth.fitting import Fitting
from crowdlogic.truth.methods import truth_method
path, name, signal = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
def watch(progress):
    if progress.iteration == 8:
        signal.touch()
        time.sleep(60)
truth_method(name).infer(planted(6, right=0.4).labels, fitting=Fitting(checkpoint=path, every=3, progress=watch))
"""


@pytest.mark.parametrize("name", ["dawid-skene", "glad"])
def test_a_fit_killed_in_the_middle_resumes_and_ends_the_same(tmp_path: Path, name: str) -> None:
    labels = planted(6, right=0.4).labels
    path, ready = tmp_path / "fit.safetensors", tmp_path / "ready"
    whole = truth_method(name).infer(labels)
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path), name, str(ready)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([".", *filter(None, sys.path)])},
    )
    deadline = time.monotonic() + 60
    while not ready.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    calls: list[Progress] = []

    assert path.exists()
    resumed = truth_method(name).infer(labels, fitting=Fitting(checkpoint=path, every=3, progress=calls.append))

    assert calls[0].iteration == 7
    np.testing.assert_array_equal(resumed.beliefs, whole.beliefs)
    np.testing.assert_array_equal(resumed.trace, whole.trace)
    assert not path.exists()


@pytest.mark.parametrize("name", [*ITERATIVE, "hmm-crowd", "bsc-seq"])
def test_a_fit_interrupted_by_an_error_resumes_and_ends_the_same(tmp_path: Path, name: str) -> None:
    labels = planted(7, right=0.4).labels
    if needs_sequences(name):
        rng = np.random.default_rng(0)
        tags = np.array(["O", "B-X", "I-X"])
        labels = from_sequences([(s, j, tags[rng.integers(3, size=6)].tolist()) for s in range(20) for j in range(4)])
    method = EBCC(restarts=1) if name == "ebcc" else truth_method(name)
    whole = method.infer(labels)

    def give_up(progress: Progress) -> None:
        if progress.iteration == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        method.infer(labels, fitting=Fitting(checkpoint=tmp_path / "fit", every=1, progress=give_up))
    assert list(tmp_path.iterdir())
    resumed = method.infer(labels, fitting=Fitting(checkpoint=tmp_path / "fit", every=1))

    np.testing.assert_array_equal(resumed.beliefs, whole.beliefs)
    assert not list(tmp_path.iterdir())


def test_a_checkpoint_of_another_fit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fit"

    def give_up(progress: Progress) -> None:
        if progress.iteration == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        DawidSkene().infer(planted(8).labels, fitting=Fitting(checkpoint=path, every=1, progress=give_up))

    for method, seed in ((DawidSkene(trust=2.0), 8), (DawidSkene(), 9)):
        with pytest.raises(OptionError, match="belongs to another fit: its method, options, labels or words differ"):
            method.infer(planted(seed).labels, fitting=Fitting(checkpoint=path))


def test_a_broken_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "fit"
    path.write_bytes(b"\x10\x00\x00\x00\x00\x00\x00\x00not a header....")

    with pytest.raises(FormatError, match="is not a checkpoint"):
        DawidSkene().infer(planted(8).labels, fitting=Fitting(checkpoint=path))


@pytest.mark.parametrize("option", ["threads", "every"])
def test_counts_below_one_are_refused(option: str) -> None:
    with pytest.raises(OptionError) as refused:
        Fitting(**{option: 0})  # type: ignore[arg-type]

    assert str(refused.value) == f"{option} must be at least 1, got 0."


def test_a_folder_is_no_checkpoint(tmp_path: Path) -> None:
    with pytest.raises(OptionError) as refused:
        Fitting(checkpoint=tmp_path)

    assert str(refused.value) == f"{tmp_path}: is a folder. Name a file for the checkpoint."


def test_every_unit_gets_an_answer_when_asked_for() -> None:
    labels = planted(0, units=20).labels
    longer = replace(labels, items=pl.concat([labels.items, pl.Series([999])]))

    some, every = (DawidSkene().infer(longer, fitting=Fitting(answer_all=flag)) for flag in (False, True))

    assert some.answer[-1] == -1
    assert every.answer[-1] == every.beliefs[-1].argmax()


def test_warnings_stay_quiet_when_the_tolerance_is_met_at_the_last_moment() -> None:
    labels = planted(10).labels
    needed = len(DawidSkene().infer(labels).trace)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert DawidSkene(convergence=Convergence(max_iterations=needed)).infer(labels).converged


class TamperedCheckpoint:
    """A checkpoint of a fit that was interrupted, with one array replaced and its checksum made to fit."""

    def __init__(self, path: Path, labels: CrowdLabels, method: Any) -> None:
        self.path, self.labels, self.method = path, labels, method

        def interrupt(progress: Progress) -> None:
            if progress.iteration == 2:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            method.infer(labels, fitting=Fitting(checkpoint=path, every=1, progress=interrupt))

    def resume_with(self, name: str, change: Callable[[Any], Any]) -> Estimate:
        arrays, metadata = get_arrays_and_metadata(self.path)
        arrays[name] = change(arrays[name])
        put_arrays(self.path, arrays, metadata=metadata | {"sha256": arrays_sha256(arrays)})
        return self.method.infer(self.labels, fitting=Fitting(checkpoint=self.path))


@pytest.mark.parametrize("name", ["state.table", "state.prior"])
@pytest.mark.parametrize(
    "change",
    [
        lambda array: array[:1],
        lambda array: array.astype(np.float32),
        lambda array: np.full_like(array, np.nan),
        lambda array: np.full_like(array, np.inf),
        lambda array: -array,
        lambda array: array[..., None],
    ],
    ids=["shape", "dtype", "nan", "infinite", "negative", "axes"],
)
def test_a_tampered_checkpoint_is_refused_before_a_kernel_sees_it(
    tmp_path: Path, name: str, change: Callable[[Any], Any]
) -> None:
    labels = planted(0).labels
    tampered = TamperedCheckpoint(tmp_path / "fit", labels, DawidSkene())

    with pytest.raises(FormatError, match=r"in the checkpoint .+\. Remove it to start over\.$"):
        tampered.resume_with(name, change)


def test_glad_goes_on_from_negative_abilities(tmp_path: Path) -> None:
    labels = planted(0).labels
    tampered = TamperedCheckpoint(tmp_path / "fit", labels, GLAD())

    assert np.isfinite(tampered.resume_with("state.ability", np.negative).beliefs).all()
