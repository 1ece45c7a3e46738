"""One list of each kind of thing."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import EntryPoint
from typing import Protocol

import pytest

from crowdlogic import registry
from crowdlogic.classifiers.protocol import Architecture
from crowdlogic.errors import CrowdLogicWarning, MissingExtraError, OptionError
from crowdlogic.registry import CLASSIFIERS, IMITATIONS, TRUTH_METHODS, Registry, registry_serving
from crowdlogic.truth.dawid_skene import DawidSkene
from crowdlogic.truth.methods import TruthMethod


@pytest.mark.parametrize("kinds", [TRUTH_METHODS, CLASSIFIERS, IMITATIONS], ids=lambda kinds: kinds.kind)
def test_every_entry_is_where_the_list_says(kinds: Registry) -> None:
    for name in kinds:
        assert kinds.load(name).__name__, name


@pytest.mark.extension("compat")
def test_an_unknown_name_is_refused_with_the_nearest_one_and_the_whole_list() -> None:
    with pytest.raises(OptionError) as caught:
        TRUTH_METHODS.load("dawid-skeen")

    assert str(caught.value) == (
        "No truth method is called 'dawid-skeen'. Did you mean 'dawid-skene'? There are pool, ensemble, majority, wawa, "
        "dawid-skene, "
        "one-coin, ibcc, ebcc, glad, mace, pm, catd, "
        "hmm-crowd, bsc-seq, zero-based-skill, kos, m-msr."
    )


def _with_entry_points(monkeypatch: pytest.MonkeyPatch, *points: EntryPoint) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda group: [one for one in points if one.group == group])


def test_entry_points_come_behind_our_own(monkeypatch: pytest.MonkeyPatch) -> None:
    _with_entry_points(monkeypatch, EntryPoint("mean", "statistics:mean", "crowdlogic.things"))
    things = Registry("thing", "crowdlogic.things", {"median": "statistics:median"})

    assert things.names() == ("median", "mean")
    assert things.load("mean")([1, 3]) == 2


def test_an_entry_point_cannot_take_the_place_of_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    _with_entry_points(monkeypatch, EntryPoint("median", "evil:median", "crowdlogic.things"))
    things = Registry("thing", "crowdlogic.things", {"median": "statistics:median"})

    with pytest.warns(CrowdLogicWarning, match="is ignored, because crowdlogic already has a thing with that name"):
        assert things.load("median")([1, 2, 9]) == 2


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("no_such_module_7:Thing", "there is no module no_such_module_7"),
        ("statistics:Shares", "statistics has no Shares"),
    ],
)
def test_an_entry_point_to_nothing_says_which_and_is_left_out_of_all(
    monkeypatch: pytest.MonkeyPatch, place: str, why: str
) -> None:
    _with_entry_points(monkeypatch, EntryPoint("shares", place, "crowdlogic.things"))
    things = Registry("thing", "crowdlogic.things", {"median": "statistics:median"})
    message = f"The entry point 'shares' of crowdlogic.things is {place}, but {why}. Reinstall or remove its package."

    with pytest.raises(MissingExtraError) as caught:
        things.load("shares")
    with pytest.warns(CrowdLogicWarning) as warned:
        assert things.loadable() == ["median"]

    assert str(caught.value) == message
    assert [str(one.message) for one in warned] == [f"{message} It is left out."]


def test_a_place_that_was_added_for_this_process_and_holds_nothing_says_so() -> None:
    things = Registry("thing", "crowdlogic.things", {})
    things.add("shares", "statistics:Shares")

    with pytest.raises(MissingExtraError) as caught:
        things.load("shares")

    assert str(caught.value) == (
        "The thing 'shares' was added as statistics:Shares, but statistics has no Shares. Correct its place."
    )


def test_one_can_be_added_for_this_process_and_only_once() -> None:
    things = Registry("thing", "crowdlogic.things", {"median": "statistics:median"})
    assert not things.has_more
    things.add("mean", "statistics:mean")

    assert things.has_more
    assert things.load("mean")([1, 3]) == 2
    with pytest.raises(OptionError, match="There is already a thing called 'mean'"):
        things.add("mean", "statistics:fmean")


@pytest.mark.extension("networks")
def test_what_needs_an_extra_says_which(monkeypatch: pytest.MonkeyPatch) -> None:
    def without_torch(module: str) -> object:
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr(registry, "import_module", without_torch)
    with pytest.raises(MissingExtraError) as caught:
        CLASSIFIERS.load("kim-cnn")

    assert str(caught.value) == (
        "kim-cnn needs the package torch, which is not installed: pip install crowdlogic[torch]"
    )


def test_a_thing_is_created_with_its_default_options() -> None:
    assert TRUTH_METHODS.create("dawid-skene") == DawidSkene()


def test_the_registry_of_a_type_is_found_by_it() -> None:
    class Thing(Protocol):
        pass

    things = Registry("thing", "crowdlogic.no_such_group", {})
    IMITATIONS.load("growing")  # a module declares the type when it is imported

    assert registry_serving(Thing) is None
    assert things.serves(Thing) is Thing
    assert registry_serving(Thing) is things
    assert registry_serving(Architecture) is CLASSIFIERS
    assert registry_serving(TruthMethod) is TRUTH_METHODS
    assert registry_serving(Callable[[int], float]) is IMITATIONS
    assert registry_serving(int) is None
