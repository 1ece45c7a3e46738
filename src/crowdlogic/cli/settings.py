"""What a training is asked for: flags over a TOML file over the run that is gone on with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.learning.choosing import MethodName, PresetName
from crowdlogic.store.options.changes import merge_changes
from crowdlogic.store.options.decode import decode_options
from crowdlogic.store.options.encode import encode_options


@dataclass(frozen=True)
class Settings:
    """The options of `train` by the names they have on the command line; None where nothing is asked for.

    Attributes:
        labels: The labels' file.
        items: The items' file.
        dev: Items with gold to stop by.
        test: Items with gold that are only scored.
        rules: The rule file.
        table: Facts for predicates, as Name=file.
        method: What to fit.
        preset: The configuration of the paper to start from.
        model: The classifier.
        vectors: Files of word vectors, to be put side by side.
        epochs: The most epochs.
        patience: Epochs without a better score before stopping.
        seed: Where all chance comes from.
        device: Where a neural model is trained.
        classes: The classes, separated by commas.
        column: Which column is what, as role=name.
        format: The layout of the labels.
        duplicates: When an annotator labels an item twice.
        wide: Whether the labels have one column per annotator.
        abstain: With wide: a value that means no label.
        set: Changes to options of the method, nested.
    """

    labels: str | None = None
    items: str | None = None
    dev: str | None = None
    test: str | None = None
    rules: str | None = None
    table: tuple[str, ...] = ()
    method: MethodName | None = None
    preset: PresetName | None = None
    model: str | None = None
    vectors: tuple[str, ...] = ()
    epochs: int | None = None
    patience: int | None = None
    seed: int | None = None
    device: str | None = None
    classes: str | None = None
    column: tuple[str, ...] = ()
    format: str | None = None
    duplicates: Duplicates | None = None
    wide: bool = False
    abstain: str | None = None
    set: Mapping[str, Any] = field(default_factory=dict)

    @property
    def changes(self) -> dict[str, Any]:
        """All changes to the method's options: those with a flag of their own, and those of --set."""
        own = {name: getattr(self, name) for name in ("epochs", "patience", "seed") if getattr(self, name) is not None}
        return merge_changes(self.set, own)

    def plain(self) -> dict[str, Any]:
        """What was asked for, as JSON holds it; what was not is left out."""
        empty = Settings()
        return {
            one.name: encode_options(getattr(self, one.name))
            for one in fields(self)
            if getattr(self, one.name) != getattr(empty, one.name)
        }

    def over(self, below: Mapping[str, Any], *, where: str) -> Settings:
        """These settings over others, as plain data: from a file, or of the run that is gone on with.

        Args:
            below: What holds where these settings say nothing.
            where: What to call it in messages.
        """
        known = decode_options(Settings(), below, where=where)
        return decode_options(known, {**self.plain(), "set": merge_changes(known.set, self.set)})
