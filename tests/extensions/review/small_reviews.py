"""Small reviews for tests: documents, sentences, and a reviewer who knows the truth."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from crowdlogic.data.corpus import Corpus, documents
from crowdlogic.data.frames import from_dict
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.data.simulate.simulations import Simulation
from crowdlogic.extensions.review.material import ReviewFit, ReviewMaterial, TruthFitter
from crowdlogic.extensions.review.session import NewDecision, ReviewSession, open_review
from crowdlogic.extensions.review.snapshot import ServingOptions
from crowdlogic.truth.dawid_skene import DawidSkene

VOTES = {
    "u1": {"ann": "x", "bob": "x", "cat": "x"},
    "u2": {"ann": "x", "bob": "y", "cat": "x"},
    "u3": {"ann": "y", "bob": "y"},
    "u4": {"ann": "y", "cat": "x"},
}


def material_of(labels: CrowdLabels, corpus: Corpus | None = None, **given: Any) -> ReviewMaterial:
    fitter = TruthFitter(DawidSkene(), labels, corpus)
    fit = ReviewFit(estimate=fitter.infer())
    return ReviewMaterial(
        **{"title": "test", "labels": labels, "corpus": corpus, "fit": fit, "fitter": fitter, **given}
    )


def small_material() -> ReviewMaterial:
    texts = documents(list(VOTES), ["one fish", "two <b>fish</b>", "three", "four \u202e"])
    return material_of(from_dict(VOTES), texts)


def simulated(items: int = 200, seed: int = 5, **given: Any) -> tuple[ReviewMaterial, Simulation]:
    made = simulate_sentiment(seed, items=items, annotators=12, labels_per_item=3, **given)
    return material_of(made.labels, made.corpus), made


def tagged(items: int = 30) -> tuple[ReviewMaterial, Simulation]:
    made = simulate_ner(3, items=items, annotators=6, labels_per_item=3, test_items=5)
    return material_of(made.labels, made.corpus), made


@contextmanager
def opened(material: ReviewMaterial, folder: Path, **serving: Any) -> Iterator[ReviewSession]:
    with open_review(material, folder, ServingOptions(**serving)) as session:
        yield session


def decision(item: int, answer: Any = None, **given: Any) -> NewDecision:
    number = given.pop("request", f"{given.get('reviewer', 'ann')}-{item}-{answer}")
    return NewDecision(**{"request": number, "item": item, "reviewer": "ann", "answer": answer, **given})


def truth_of(session: ReviewSession, made: Simulation, item: int) -> Any:
    """What a reviewer who knows the truth answers."""
    corpus = made.corpus
    units = [item] if corpus.offsets is None else range(*corpus.offsets[item : item + 2])
    names = [str(corpus.classes[corpus.gold[i]]) for i in units]  # type: ignore[index]
    return names if session.form.labels.is_sequential else names[0]


def review(session: ReviewSession, made: Simulation, count: int, reviewer: str = "ann") -> list[int]:
    """Decide so many items as they are served, with the truth."""
    done = []
    for _ in range(count):
        (view,) = session.serve(reviewer, most=1)
        answer = truth_of(session, made, view.item)
        session.record(
            decision(view.item, answer, reviewer=reviewer, chosen=view.chosen, request=f"{reviewer}-{view.item}")
        )
        done.append(view.item)
    return done


def gold_of(made: Simulation) -> Any:
    return np.asarray(made.corpus.gold)
