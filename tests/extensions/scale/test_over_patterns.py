"""Fits over patterns give what fits over the whole table give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.extensions.scale.test_over_engines import METHODS, _no_convergence_warnings, fixed_iterations
from tests.truth.planted import planted

from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.data import from_matrix
from crowdlogic.errors import OptionError
from crowdlogic.extensions.compat.kos import KOS
from crowdlogic.extensions.scale.patterns import infer_patterns
from crowdlogic.truth import fitting as patterns_module
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.dependence import PUBLIC_CROWDS
from crowdlogic.truth.fitting import Fitting, find_patterns
from crowdlogic.truth.pool import Ensemble

__all__ = ["_no_convergence_warnings"]

EVERY = pytest.mark.parametrize("name", [*METHODS, "ensemble", "pool"])


def drawn_labels(seed: int, units: int, annotators: int, classes: int) -> Any:
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, classes, units)
    given = np.where(
        rng.random((units, annotators)) < 0.7, truth[:, None], rng.integers(0, classes, (units, annotators))
    )
    given[rng.random(given.shape) < 0.2] = -1
    return from_matrix(given, classes=range(classes))


@EVERY
@settings(max_examples=4, deadline=None)
@given(st.integers(0, 1000), st.integers(20, 200), st.integers(2, 4), st.integers(2, 3))
@example(615, 127, 4, 3)  # two annotators of nearly no weight, whose labels tie up to rounding errors
def test_every_item_gets_what_the_whole_table_gives_it(
    name: str, seed: int, units: int, annotators: int, classes: int
) -> None:
    labels = drawn_labels(seed, units, annotators, classes)
    method = fixed_iterations(name)
    whole = infer_calibrated(method, labels, dependence=PUBLIC_CROWDS)
    found = find_patterns(labels)
    assert found is not None

    few = infer_patterns(method, labels.take_items(found.unit), found.times, dependence=PUBLIC_CROWDS)

    np.testing.assert_allclose(few.beliefs[found.pattern], whole.beliefs, rtol=0, atol=1e-8)
    assert few.calibration is not None
    assert whole.calibration is not None
    assert few.calibration.correlation == pytest.approx(whole.calibration.correlation, abs=1e-12)


@EVERY
@pytest.mark.parametrize("anchored", [False, True])
def test_a_table_in_memory_is_grouped_without_a_change_of_the_estimate(
    monkeypatch: pytest.MonkeyPatch, name: str, anchored: bool
) -> None:
    labels = drawn_labels(3, units=400, annotators=3, classes=3)
    method: Any = fixed_iterations(name)
    if anchored and not getattr(method, "uses_anchors", True):
        pytest.skip("takes no anchors")
    fitting = Fitting(anchors={1: 0, 2: 2, 7: 1} if anchored else None)
    whole = method.infer(labels, fitting=fitting)
    asked: list[Any] = []
    monkeypatch.setattr(patterns_module, "LARGE", 0)
    monkeypatch.setattr(patterns_module, "PAYS", 1)
    found_patterns = patterns_module.find_patterns
    monkeypatch.setattr(patterns_module, "find_patterns", lambda *given: asked.append(1) or found_patterns(*given))

    grouped = method.infer(labels, fitting=fitting)

    assert bool(asked) == (name != "majority")
    np.testing.assert_allclose(grouped.beliefs, whole.beliefs, rtol=0, atol=1e-8)
    np.testing.assert_allclose(grouped.trace, whole.trace, rtol=1e-8)
    assert (grouped.answer == whole.answer).mean() > 0.99  # ties of beliefs may fall either way in the last digit
    assert set(grouped.parameters) == set(whole.parameters)
    for key, values in whole.parameters.items():
        np.testing.assert_allclose(grouped.parameters[key], values, rtol=1e-6)


def test_a_fit_over_patterns_resumes_from_its_checkpoint(tmp_path: Any) -> None:
    labels = drawn_labels(5, units=300, annotators=4, classes=3)
    found = find_patterns(labels)
    assert found is not None
    few = labels.take_items(found.unit)
    whole = infer_patterns(DawidSkene(), few, found.times)

    def stop(progress: Any) -> None:
        if progress.iteration == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        infer_patterns(
            DawidSkene(), few, found.times, fitting=Fitting(checkpoint=tmp_path / "c", every=1, progress=stop)
        )
    assert (tmp_path / "c").exists()
    resumed = infer_patterns(DawidSkene(), few, found.times, fitting=Fitting(checkpoint=tmp_path / "c"))

    np.testing.assert_array_equal(resumed.trace, whole.trace)


def test_a_method_that_needs_the_items_is_refused() -> None:
    labels = planted(0).labels

    with pytest.raises(
        OptionError, match=r"kos requires items instead of patterns\. Methods for patterns: pool, ensemble, "
    ):
        infer_patterns(KOS(), labels, np.ones(labels.n_units))


def test_the_ensemble_weighs_by_the_labels_that_patterns_stand_for() -> None:
    labels = drawn_labels(0, units=30, annotators=3, classes=3)

    alone = Ensemble().confusion_weight(labels)

    assert Ensemble().confusion_weight(labels, np.full(30, 1_000.0)) > 0.99 > alone
