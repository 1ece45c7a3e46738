"""A list of items to look at or to label again: what the item is, what was answered, and who said what."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.estimate import Estimate
from crowdlogic.data.formats.detection import find_format
from crowdlogic.data.formats.tables import CHOSEN, TableFormat
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import as_text, find
from crowdlogic.data.writing import write_estimate, write_table

LEAST_SURE = "least sure"
"""How the items of the list were chosen."""


def write_relabel_list(
    path: str | Path,
    estimate: Estimate,
    labels: CrowdLabels,
    corpus: Corpus | None,
    *,
    format: str | None = None,
    spreadsheet_safe: bool = False,
) -> None:
    """Write items with their text, answer, confidence and votes; sentences as answers, since they hold their tokens.

    Args:
        path: The file.
        estimate: The answers of these items.
        labels: The labels, of these items and of others.
        corpus: The same items, where their texts are known.
        format: The format; None to take it from the suffix.
        spreadsheet_safe: Whether cells that a spreadsheet would read as formulas get a leading quote.
    """
    if estimate.offsets is not None or not isinstance(find_format(path, format), TableFormat):
        write_estimate(path, estimate, corpus=corpus, format=format, spreadsheet_safe=spreadsheet_safe)
        return
    write_table(path, relabel_table(estimate, labels, corpus), format=format, spreadsheet_safe=spreadsheet_safe)


def relabel_table(estimate: Estimate, labels: CrowdLabels, corpus: Corpus | None) -> pl.DataFrame:
    """One row per item, the least sure first: item, text, label, confidence, votes, chosen, p_<class>.

    `chosen` says that these items were not drawn at random: corrected and given as known truths, they must not be taken
    for a sample of all items.
    """
    table = estimate.to_frame()
    table = table.with_columns(as_text(table["label"]).alias("label"))
    votes = _describe_votes(labels).gather(find(estimate.items, labels.items)).alias("votes")
    table.insert_column(table.columns.index("confidence") + 1, votes)
    chosen = pl.Series(CHOSEN, [LEAST_SURE] * len(table), dtype=pl.String)
    table.insert_column(table.columns.index("votes") + 1, chosen)
    if corpus is not None and corpus.texts is not None:
        table.insert_column(1, pl.Series("text", corpus.texts, dtype=pl.String))
    return table.sort("confidence", nulls_last=False, maintain_order=True)


def _describe_votes(labels: CrowdLabels) -> pl.Series:
    """votes[s] of every item: ann: x; bob: y."""
    rows = pl.DataFrame(
        {
            "item": labels.unit,
            "vote": as_text(labels.annotators).gather(labels.annotator)
            + ": "
            + pl.Series([str(name) for name in labels.classes], dtype=pl.String).gather(labels.label),
        }
    )
    found = rows.group_by("item", maintain_order=True).agg(pl.col("vote").str.join("; "))
    everyone = pl.DataFrame({"item": pl.Series(range(len(labels.items)), dtype=rows.schema["item"])})
    return everyone.join(found, on="item", how="left", maintain_order="left")["vote"].fill_null("")
