"""The options of a training: explicit ones over those of a TOML file over those of the run that is resumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from crowdlogic.data.character_spans import Boundaries
from crowdlogic.data.intake.contract import Duplicates
from crowdlogic.data.text_tokens import Tokenizer
from crowdlogic.store.options.changes import merge_changes
from crowdlogic.store.options.decode import decode_options
from crowdlogic.store.options.encode import encode_options
from crowdlogic.workflows.inputs import InputOptions, parse_columns, parse_names


@dataclass(frozen=True, kw_only=True)
class TrainOptions:
    """The options of `train`, by the names that they have on the command line, in a TOML file and in config.json.

    None means the default.

    Attributes:
        labels: The labels' file.
        items: The items' file.
        dev: Items with gold for early stopping.
        test: Items with gold that are only scored.
        anchors: Training items whose truth is known: item and label, or tags.
        rules: The rule file.
        grammar: Whether the grammar of span tags is added to the rules.
        table: Facts for predicates, as Name=file.
        method: What to fit.
        preset: The configuration of the paper to start from.
        model: The classifier.
        vectors: Files of word vectors, to be put side by side.
        epochs: Maximum number of epochs.
        patience: Epochs without a better score before stopping.
        seed: Random seed.
        device: Where a neural model is trained.
        classes: The classes, separated by commas.
        column: Which column is what, as role=name.
        format: The format of the labels.
        duplicates: When an annotator labels an item twice.
        wide: Whether the labels have one column per annotator.
        abstain: With wide: a value that means no label.
        empty_label: The class that an empty answer means.
        question: In an export with several questions, the one to read.
        tokens: How texts with marked spans are cut into tokens.
        boundaries: When a marked span begins or ends inside a token.
        threshold: In an evaluation, the number from which on a grade is a pass.
        set: Changes to options of the method, nested.
    """

    labels: str | None = None
    items: str | None = None
    dev: str | None = None
    test: str | None = None
    anchors: str | None = None
    rules: str | None = None
    grammar: bool = True
    table: tuple[str, ...] = ()
    method: str | None = None
    preset: str | None = None
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
    empty_label: str | None = None
    question: str | None = None
    tokens: Tokenizer | None = None
    boundaries: Boundaries | None = None
    threshold: float | None = None
    set: Mapping[str, Any] = field(default_factory=dict)

    @property
    def changes(self) -> dict[str, Any]:
        """All changes to the method's options: those with a flag of their own, and those of --set."""
        own = {name: getattr(self, name) for name in ("epochs", "patience", "seed") if getattr(self, name) is not None}
        return merge_changes(self.set, {"limits": own} if own else {})

    @property
    def input(self) -> InputOptions:
        """How the labels are read."""
        return InputOptions(
            format=self.format,
            columns=parse_columns(self.column),
            classes=parse_names(self.classes),
            duplicates=self.duplicates or Duplicates.error,
            wide=self.wide,
            abstain=self.abstain,
            empty_label=self.empty_label,
            question=self.question,
            tokens=self.tokens or Tokenizer.words,
            boundaries=self.boundaries or Boundaries.widen,
            threshold=self.threshold,
        )

    def plain(self) -> dict[str, Any]:
        """The options that are given, as plain data."""
        empty = TrainOptions()
        return {
            one.name: encode_options(getattr(self, one.name))
            for one in fields(self)
            if getattr(self, one.name) != getattr(empty, one.name)
        }

    def override(self, below: Mapping[str, Any], *, where: str) -> TrainOptions:
        """These options over others, which are plain data: from a file, or of the run that is resumed.

        Args:
            below: What holds where these options are None.
            where: What to call it in messages.
        """
        known = decode_options(TrainOptions(), below, where=where)
        return decode_options(known, {**self.plain(), "set": merge_changes(known.set, self.set)})
