"""A session: what is served, recorded, undone, in conflict, and what a re-fit makes of it."""

from __future__ import annotations

from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from tests.extensions.review.small_reviews import (
    decision,
    gold_of,
    opened,
    review,
    simulated,
    small_material,
    tagged,
    truth_of,
)
from tests.workflows.conftest import Trained

from crowdlogic.errors import DataError
from crowdlogic.extensions.review.decision_log import Cause, Choice, DecisionKind
from crowdlogic.extensions.review.material import ReviewOptions, load_material
from crowdlogic.extensions.review.review_queue import expected_mistakes_removed
from crowdlogic.extensions.review.session import OutdatedError, ReusedRequestError, UnknownItemError
from crowdlogic.extensions.review.snapshot import ItemState, QueueFilter


def test_the_most_doubtful_item_comes_first_and_none_is_served_twice(tmp_path: Path) -> None:
    material, _made = simulated()
    with opened(material, tmp_path / "r", share=0.0) as session:
        first = session.serve("ann", most=5)
        more = session.serve("ann", most=5, holding=[view.item for view in first])

    doubt = expected_mistakes_removed(material.labels, material.fit.estimate)
    assert [view.item for view in (*first, *more)] == np.argsort(-doubt, kind="stable")[:10].tolist()
    assert {view.chosen for view in first} == {Choice.queue}


def test_a_tenth_of_the_items_is_random(tmp_path: Path) -> None:
    material, _made = simulated()
    with opened(material, tmp_path / "r") as session:
        served = session.serve("ann", most=50)

    assert [view.chosen for view in served].count(Choice.random) == 5
    assert len({view.item for view in served}) == 50


def test_another_reviewer_is_given_other_items(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        ann = {view.item for view in session.serve("ann", most=2)}
        bob = {view.item for view in session.serve("bob", most=4)}

    assert len(ann) == len(bob) == 2
    assert not ann & bob


def test_a_decision_is_kept_with_everything_about_it(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        line = session.record(
            decision(1, "y", seconds=2.5, cause=Cause.ambiguous_text, note="hm", chosen=Choice.filter)
        )
        view = session.view(1)

    assert (line.item, line.reviewer, line.before, line.after) == ("u2", "ann", "x", "y")
    assert (line.seconds, line.cause, line.note, line.chosen) == (2.5, "ambiguous text", "hm", "filter")
    assert view.is_decided
    assert view.revision == line.number
    assert [one.answer for one in view.decisions] == ["y"]


def test_everything_is_there_again_after_a_restart(tmp_path: Path) -> None:
    material, made = simulated()
    with opened(material, tmp_path / "r", seed=3) as session:
        done = review(session, made, 25)
        session.record(decision(session.serve("ann", most=1)[0].item, kind=DecisionKind.cannot_say))
        before, queue = session.counts(), [view.item for view in session.serve("ann", most=5)]

    with opened(material, tmp_path / "r", seed=99) as session:
        after = session.counts()
        assert (after.decided, after.cannot_say, after.accuracy) == (25, 1, before.accuracy)
        assert after.waiting == 0
        assert session.moment.number == 1  # what was decided is fitted in
        assert not {view.item for view in session.serve("ann", most=50)} & set(done)
        assert queue


def test_two_reviewers_who_differ_are_in_conflict_and_neither_is_overwritten(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        session.record(decision(0, "x"))
        session.record(decision(0, "y", reviewer="bob"))  # made against revision 0: bob did not see ann's
        view = session.view(0)

        assert view.in_conflict
        assert [(one.reviewer, one.answer) for one in view.decisions] == [("ann", "x"), ("bob", "y")]
        assert session.decisions().truth == {}
        assert session.counts().conflicts == 1
        with pytest.raises(OutdatedError):
            session.record(decision(0, "y", reviewer="cat", settles=True, revision=1))
        session.record(decision(0, "y", reviewer="cat", settles=True, revision=2))
        assert session.decisions().truth == {"u1": "y"}
        assert session.counts().conflicts == 0
        assert len(session.log.read()) == 3


def test_undo_takes_back_the_last_thing_a_reviewer_did(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        session.record(decision(0, "x"))
        session.record(decision(1, "y"))
        session.record(decision(2, "y", reviewer="bob"))

        assert session.undo("ann", "u1").item == "u2"
        assert session.undo("ann", "u1").item == "u2"  # the same request
        assert session.counts().decided == 2
        assert session.undo("ann", "u2").item == "u1"
        with pytest.raises(UnknownItemError, match="nothing to undo"):
            session.undo("ann", "u3")
        assert 1 in {view.item for view in session.serve("ann", most=4)}


def test_a_request_that_is_sent_twice_counts_once(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        first = session.record(decision(0, "x", request="same"))
        again = session.record(decision(0, first.after, request="same"))

        assert again == first
        assert session.counts().waiting == 1


def test_a_skipped_item_is_for_others(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r", share=0.0) as session:
        item = session.serve("ann", most=1)[0].item
        session.record(decision(item, kind=DecisionKind.skip))

        assert item not in {view.item for view in session.serve("ann", most=4)}
        assert session.counts().decided == 0
        session._held.clear()
        assert session.serve("bob", most=1)[0].item == item


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"item": 4, "answer": "x"}, UnknownItemError),
        ({"item": -1, "answer": "x"}, UnknownItemError),
        ({"item": 0, "answer": "z"}, DataError),
        ({"item": 0, "answer": None}, DataError),
        ({"item": 0, "answer": "x", "kind": DecisionKind.undo}, DataError),
    ],
)
def test_what_makes_no_sense_is_refused_and_not_recorded(
    tmp_path: Path, given: dict[str, object], error: type[Exception]
) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        with pytest.raises(error):
            session.record(decision(given.pop("item"), given.pop("answer"), **given))  # type: ignore[arg-type]

        assert session.log.read() == []


def test_a_refit_obeys_the_decisions_and_says_what_they_changed_elsewhere(tmp_path: Path) -> None:
    material, made = simulated(items=400, seed=8)
    with opened(material, tmp_path / "r", share=1.0) as session:
        done = review(session, made, 80)
        before = session.counts().expected_mistakes
        changes = session.refit()
        answer = session.moment.fit.estimate.answer

    gold, rest = gold_of(made), np.setdiff1d(np.arange(400), done)
    first = material.fit.estimate.answer
    assert (answer[done] == gold[done]).all()
    assert changes.decisions == 80
    assert changes.changed == (answer[rest] != first[rest]).sum() > 0
    assert changes.mistakes_before == pytest.approx(before, abs=0.01)
    assert changes.sentence.startswith(
        f"80 decisions changed {changes.changed} other answers; expected mistakes among "
    )
    assert session.waiting == 0


def test_decisions_are_not_reopened_by_a_refit_even_if_everybody_voted_otherwise(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        session.record(decision(0, "y"))
        session.refit()
        session.refit()

        assert session.moment.fit.estimate.answer_names()[0] == "y"
        assert 0 not in {view.item for view in session.serve("ann", most=4)}


def test_the_page_stays_usable_while_a_refit_runs(tmp_path: Path) -> None:
    material, made = simulated(items=300)
    with opened(material, tmp_path / "r") as session:
        review(session, made, 10)
        threads = [Thread(target=session.refit), Thread(target=lambda: review(session, made, 30, "bob"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert session.counts().decided == 40
        assert session.waiting <= 30


def test_accuracy_by_random_items_is_without_bias(tmp_path: Path) -> None:
    """Over many samples the consensus is found as accurate as it is, though the queue takes the doubtful ones."""
    material, made = simulated(items=150, seed=21)
    truth = float((material.fit.estimate.answer == gold_of(made)).mean())
    found, covered = [], 0
    for seed in range(40):
        with opened(material, tmp_path / f"r{seed}", seed=seed, share=0.3) as session:
            review(session, made, 60)
            share = session.accuracy().before
        assert share is not None
        found.append((share.share * (share.n + 1) - 0.5) / share.n)  # without the half of each kind
        covered += share.low <= truth <= share.high

    assert np.mean(found) == pytest.approx(truth, abs=3 * np.std(found) / np.sqrt(40))
    assert covered >= 34


def test_filters_choose_items(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        names = lambda **given: {view.name for view in session.serve("ann", most=9, wanted=QueueFilter(**given))}  # noqa: E731

        assert names(search="FISH") == {"u1", "u2"}
        assert names(search="u3") == {"u3"}
        assert names(annotator="cat") == {"u1", "u2", "u4"}
        assert names(answer="y") == {"u3", "u4"} or names(answer="y") == {"u3"}
        assert names(most_confidence=0.0) == set()
        assert session.count_fitting(QueueFilter(search="fish")) == 2
        session.record(decision(0, "x"))
        assert names(search="fish") == {"u2"}
        assert names(state=ItemState.decided) == {"u1"}
        assert names(state=ItemState.all, search="fish") == {"u1", "u2"}
        assert session.count_fitting(QueueFilter(search="fish", state=ItemState.open)) == 1


def test_sentences_are_decided_by_tags(tmp_path: Path) -> None:
    material, made = tagged()
    with opened(material, tmp_path / "r") as session:
        (view,) = session.serve("ann", most=1)
        tags = truth_of(session, made, view.item)
        session.record(decision(view.item, tags))
        session.refit()

        assert len(view.tokens) == len(tags)
        assert session.moment.fit.estimate.answer_names()[made.corpus.offsets[view.item] :][: len(tags)] == tags
        assert view.votes[0].label is None
        assert session.view(view.item).decisions[0].spans == [
            type(view.spans[0])(**span) for span in session.form.spans(session.form.encode(view.item, tags))
        ]


def test_an_item_is_found_by_its_name(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path / "r") as session:
        assert session.find("u3") == 2
        with pytest.raises(UnknownItemError):
            session.find("u9")


def test_a_run_is_reviewed_with_its_classifier_and_its_rules(trained: Trained, tmp_path: Path) -> None:
    material = load_material(ReviewOptions(source=trained.file("run")))
    assert material.rules is not None
    with opened(material, tmp_path / "r") as session:
        said = {item: session.evidence(item).rules for item in material.rules.units[0].tolist()}
        speaking = [item for item, words in said.items() if words][:6]
        for item in speaking:  # against what the rule says, every time
            other = next(name for name in session.form.class_names if name != said[item][0].favours)
            session.record(decision(item, other))
        changes, trained_on = session.refit(), session.refit(epochs=1)
        view = session.view(speaking[0])

    assert (changes.with_classifier, trained_on.with_classifier) == (False, True)
    assert len(speaking) == 6
    assert [(one.against, one.decisions) for one in changes.rules] == [(6, 6)]
    assert "the rule about 'but' contradicts 6 of 6 decisions" in changes.sentence
    assert len(view.classifier) == 2
    assert not np.array_equal(session.moment.fit.learned.epoch.p, material.fit.learned.epoch.p)  # type: ignore[union-attr]


def test_a_revision_that_is_not_there_yet_is_refused(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path) as session:
        with pytest.raises(OutdatedError, match="999, but this item is at revision 0"):
            session.record(decision(0, "y", revision=999))

        assert session.log.read() == []


def test_a_request_name_that_is_used_for_another_decision_is_refused(tmp_path: Path) -> None:
    with opened(small_material(), tmp_path) as session:
        first = session.record(decision(0, "y", request="same"))
        for other in (decision(1, "y", request="same"), decision(0, "x", request="same")):
            with pytest.raises(ReusedRequestError, match="already used by an earlier request"):
                session.record(other)
        with pytest.raises(ReusedRequestError):
            session.undo("ann", "same")

        assert session.record(decision(0, "y", request="same")) == first
        assert session.log.read() == [first]
