"""What follows from a fit: order, confidence of items, and searching."""

from __future__ import annotations

import numpy as np
from tests.extensions.review.small_reviews import small_material, tagged
from tests.workflows.conftest import Trained

from crowdlogic.extensions.review.evidence import AnswerForm
from crowdlogic.extensions.review.material import ReviewMaterial, ReviewOptions, load_material
from crowdlogic.extensions.review.review_queue import NO_DECISIONS
from crowdlogic.extensions.review.snapshot import ItemSearch, QueueFilter, ReviewMoment, ServingOptions, make_moment


def moment_of(material: ReviewMaterial) -> ReviewMoment:
    return make_moment(material, material.fit, NO_DECISIONS, number=0, options=ServingOptions())


def test_a_sentence_is_as_sure_as_its_least_sure_token() -> None:
    material, _ = tagged()
    estimate = material.fit.estimate
    assert estimate.offsets is not None

    found = moment_of(material).item_confidence

    by_hand = [estimate.confidence[a:b].min() for a, b in zip(estimate.offsets[:-1], estimate.offsets[1:], strict=True)]
    np.testing.assert_allclose(found, by_hand)


def test_sentences_are_found_by_words_and_types() -> None:
    material, made = tagged()
    search, moment = ItemSearch(material, AnswerForm(material.labels)), moment_of(material)
    word = made.corpus.sentence(3)[1]

    found = search.find(QueueFilter(search=word.upper()), moment)

    assert found[3]
    assert all(word.lower() in " ".join(made.corpus.sentence(int(s))).lower() for s in np.flatnonzero(found))
    kind = AnswerForm(material.labels).types[0]
    typed = search.find(QueueFilter(answer=kind), moment)
    spans = [{span.type for span in moment.viewer._believed_spans(np.arange(*made.corpus.offsets[s : s + 2]))} for s in range(30)]  # fmt: skip
    assert typed.tolist() == [kind in own for own in spans]


def test_items_are_found_by_rule(trained: Trained) -> None:
    material = load_material(ReviewOptions(source=trained.file("run")))
    search, moment = ItemSearch(material, AnswerForm(material.labels)), moment_of(material)
    assert material.rules is not None

    assert np.flatnonzero(search.find(QueueFilter(rule=0), moment)).tolist() == material.rules.units[0].tolist()
    assert not search.find(QueueFilter(rule=99), moment).any()
    assert moment.evidence(material.labels, 0)


def test_an_unknown_name_finds_nothing() -> None:
    material = small_material()
    search, moment = ItemSearch(material, AnswerForm(material.labels)), moment_of(material)

    assert not search.find(QueueFilter(annotator="nobody"), moment).any()
    assert not search.find(QueueFilter(answer="nothing"), moment).any()
