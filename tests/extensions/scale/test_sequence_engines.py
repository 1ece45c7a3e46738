"""Tags of sentences over an engine: the answers of memory, in the user's own format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.truth.planted import tagged_sentences

from crowdlogic.data.reading import write_labels
from crowdlogic.errors import OptionError
from crowdlogic.extensions.scale.sequence_engines import ThroughEngine
from crowdlogic.truth.bsc_seq import BSCSeq
from crowdlogic.workflows.aggregate import AggregateOptions, aggregate_files


@pytest.fixture
def tags(tmp_path: Path) -> str:
    labels, corpus = tagged_sentences()
    write_labels(tmp_path / "tags.jsonl", labels, corpus=corpus)
    return str(tmp_path / "tags.jsonl")


@pytest.mark.parametrize("method", ["hmm-crowd", "bsc-seq"])
def test_an_engine_gives_the_tags_of_memory(tmp_path: Path, tags: str, method: str) -> None:
    options = {"labels": tags, "method": method, "iterations": 5}

    whole = aggregate_files(AggregateOptions(**options, out=str(tmp_path / "whole.jsonl")))
    found = aggregate_files(AggregateOptions(**options, out=str(tmp_path / "found.jsonl"), engine="local"))

    assert whole.estimate is not None
    assert found.estimate is not None
    np.testing.assert_allclose(found.estimate.beliefs, whole.estimate.beliefs, rtol=0, atol=1e-8)
    whole_tags, found_tags = (pl.read_ndjson(tmp_path / f"{name}.jsonl")["tags"] for name in ("whole", "found"))
    assert found_tags.to_list() == whole_tags.to_list()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["found.jsonl", "tags.jsonl", "whole.jsonl"]


def test_methods_that_need_all_tags_in_memory_say_which_do_not(tmp_path: Path, tags: str) -> None:
    with pytest.raises(
        OptionError, match=r"requires all tags in memory\. Remove --engine, or use hmm-crowd or bsc-seq\.$"
    ):
        aggregate_files(
            AggregateOptions(labels=tags, method="dawid-skene", out=str(tmp_path / "found.jsonl"), engine="local")
        )


def test_the_shards_are_gone_after_a_failure(tmp_path: Path) -> None:
    labels, corpus = tagged_sentences()
    through = ThroughEngine(method=BSCSeq(), engine="local", address="nowhere:1", beside=str(tmp_path / "out"))

    with pytest.raises(OptionError, match="--address nowhere:1 requires --engine ray or spark"):
        through.infer(labels, corpus)

    assert list(tmp_path.iterdir()) == []
