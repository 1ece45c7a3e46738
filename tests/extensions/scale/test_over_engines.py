"""Truth methods over engines: every sharding, and units that stand for several, give the answers of the whole table."""

from __future__ import annotations

import warnings
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.extensions.scale.shardings import as_patterns, cut_at
from tests.truth.planted import planted

from crowdlogic.errors import ConvergenceWarning, OptionError
from crowdlogic.numerics.convergence import Convergence
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.fitting import Fitting, Progress, fits_over_engines
from crowdlogic.truth.glad import GLAD
from crowdlogic.truth.methods import truth_method
from crowdlogic.truth.ties import Ties

METHODS = [name for name in TRUTH_METHODS if fits_over_engines(name)]
EVERY_METHOD = pytest.mark.parametrize("name", METHODS)


def fixed_iterations(name: str, iterations: int = 7) -> Any:
    """A method that makes so many iterations (or as many as it needs to stand still)."""
    method: Any = truth_method(name)
    own = {field.name for field in fields(method)}
    limits: dict[str, Any] = {"convergence": Convergence(max_iterations=iterations, tolerance=0.0)}
    if name in ("pm", "catd"):
        limits["convergence"] = Convergence(max_iterations=iterations, tolerance=None)
    options: dict[str, Any] = {**limits, "restarts": 2, "subtypes": 3, "ties": Ties.first}
    return replace(method, **{option: value for option, value in options.items() if option in own})


@pytest.fixture(autouse=True)
def _no_convergence_warnings() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


@EVERY_METHOD
@settings(max_examples=10, deadline=None)
@given(cuts=st.lists(st.integers(0, 50), max_size=5), seed=st.integers(0, 3), weighted=st.booleans())
def test_every_sharding_gives_the_answers_of_the_whole_table(
    name: str, cuts: list[int], seed: int, weighted: bool
) -> None:
    labels = planted(seed, units=50, given=0.6).labels
    if weighted:
        labels = replace(labels, weight=np.random.default_rng(seed).choice([0.5, 1.0, 2.0], size=labels.n_labels))
    method = fixed_iterations(name)
    whole = method.infer(labels)

    fit = method.fit_over(cut_at(labels, cuts))

    q = np.concatenate([part for _, part in fit.stream()])
    np.testing.assert_allclose(q, whole.beliefs, rtol=0, atol=1e-8)
    np.testing.assert_array_equal(fit.gather(), q)
    np.testing.assert_allclose(fit.trace, whole.trace, rtol=1e-8)
    assert fit.converged == whole.converged


@EVERY_METHOD
@settings(max_examples=5, deadline=None)
@given(seed=st.integers(0, 10))
def test_patterns_give_the_answers_of_the_whole_table(name: str, seed: int) -> None:
    labels = planted(seed, units=120, annotators=4, given=0.7).labels
    method = fixed_iterations(name)
    whole = method.infer(labels)
    engine, pattern = as_patterns(labels)

    fit = method.fit_over(engine)

    assert engine.n_units < 100
    np.testing.assert_allclose(fit.gather()[pattern], whole.beliefs, rtol=0, atol=1e-8)
    np.testing.assert_allclose(fit.trace, whole.trace, rtol=1e-8)


@pytest.mark.parametrize("method", [DawidSkene(), GLAD()], ids=lambda method: method.name)
def test_a_fit_over_an_engine_resumes_from_its_checkpoint(tmp_path: Path, method: Any) -> None:
    labels = planted(6, units=60, given=0.6).labels
    engine, place = cut_at(labels, [10, 35]), tmp_path / "state"
    whole = method.fit_over(engine)

    def stop(progress: Progress) -> None:
        if progress.iteration == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        method.fit_over(engine, fitting=Fitting(checkpoint=place, every=2, progress=stop))
    seen: list[int] = []
    resumed = method.fit_over(
        engine, fitting=Fitting(checkpoint=place, every=2, progress=lambda one: seen.append(one.iteration))
    )

    assert seen[0] == 5
    np.testing.assert_array_equal(resumed.trace, whole.trace)
    np.testing.assert_array_equal(resumed.gather(), whole.gather())
    assert not place.exists()


def test_a_checkpoint_of_other_labels_is_refused(tmp_path: Path) -> None:
    place = tmp_path / "state"

    def stop(progress: Progress) -> None:
        if progress.iteration == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        DawidSkene().fit_over(cut_at(planted(1).labels, []), fitting=Fitting(checkpoint=place, every=1, progress=stop))

    with pytest.raises(OptionError, match="belongs to another fit: its method, options, labels or words differ"):
        DawidSkene().fit_over(cut_at(planted(2).labels, []), fitting=Fitting(checkpoint=place))
