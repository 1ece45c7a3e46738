from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.truth.planted import planted

from crowdlogic.errors import FormatError
from crowdlogic.extensions.scale.coded_files import open_coded, require_manifest, write_coded
from crowdlogic.extensions.scale.remote import RemoteEngine, Traffic, size_of


def test_an_engine_knows_its_labels_without_reading_them(tmp_path: Path) -> None:
    labels = planted(0, units=50).labels
    manifest = write_coded(tmp_path, labels, rows=40)

    engine = RemoteEngine(require_manifest(tmp_path))

    assert (engine.n_units, engine.n_labels, engine.n_classes) == (50, labels.n_labels, labels.n_classes)
    assert engine.n_annotators == len(labels.annotators)
    assert len(engine.runs()) == len(manifest.shards) > 2
    assert engine.runs()[0].start == 0
    assert engine.runs()[-1].stop == 50


def test_a_checkpoint_may_go_from_one_engine_to_another(tmp_path: Path) -> None:
    write_coded(tmp_path, planted(0, units=50).labels, rows=40)

    assert RemoteEngine(require_manifest(tmp_path)).digest() == open_coded(tmp_path).digest()


def test_a_folder_without_shards_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        FormatError, match=r"contains no manifest\.json, so it is not a folder of shards or is incomplete"
    ):
        require_manifest(tmp_path)


def test_bytes_are_counted_by_what_they_are_for() -> None:
    traffic = Traffic()

    traffic.add(parameters=3000, counts=size_of({"a": np.zeros(10), "b": np.zeros(2, dtype=np.int16)}))
    traffic.add(states=2048)

    assert (traffic.steps, traffic.counts, traffic.per_step) == (1, 84, 3084)
    assert str(traffic) == (
        "1 steps transferred 3.01 KiB each (in total 2.93 KiB of parameters sent, 84 bytes of counts received), "
        "and beliefs took 2 KiB"
    )
