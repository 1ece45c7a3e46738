"""What changed between two moments, counted by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.extensions.review.small_reviews import small_material
from tests.extensions.review.test_moment import moment_of
from tests.workflows.conftest import Trained

from crowdlogic.extensions.review.material import ReviewOptions, load_material
from crowdlogic.extensions.review.review_queue import Decisions
from crowdlogic.extensions.review.snapshot import compare_moments, find_contradicted


def test_answers_that_changed_and_mistakes_that_are_left() -> None:
    material = small_material()
    last = moment_of(material)
    estimate = replace(last.fit.estimate, answer=1 - last.fit.estimate.answer)
    following = replace(last, fit=replace(last.fit, estimate=estimate), mistakes=last.mistakes / 2)

    found = compare_moments(material, last, following, Decisions(truth={"u1": "x"}))

    assert (found.decisions, found.changed, found.flags, found.rules) == (1, 3, (), ())
    assert found.mistakes_before == pytest.approx(last.mistakes[1:].sum())
    assert found.mistakes_after == pytest.approx(last.mistakes[1:].sum() / 2)


def test_a_rule_is_found_that_speaks_against_what_is_known(trained: Trained) -> None:
    material = load_material(ReviewOptions(source=trained.file("run")))
    rules, moment = material.rules, moment_of(material)
    assert rules is not None
    units = rules.units[0][:8]
    bits = rules.say(units, moment.fit.estimate.beliefs, moment.fit.learned)[0]
    known = np.full(material.labels.n_units, -1)

    known[units] = bits.argmax(axis=1)
    assert find_contradicted(material, moment, known) == ()
    known[units] = bits.argmin(axis=1)
    (found,) = find_contradicted(material, moment, known)
    assert found.against == found.decisions
