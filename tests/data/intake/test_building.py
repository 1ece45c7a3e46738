from __future__ import annotations

import polars as pl

from crowdlogic.data.frames import from_frame


def test_an_empty_table_is_a_table() -> None:
    labels = from_frame(pl.DataFrame({"item": [], "annotator": [], "label": []}))

    assert (labels.n_labels, labels.n_units, labels.classes) == (0, 0, ())


def test_weights_and_times_move_with_their_rows() -> None:
    table = pl.DataFrame(
        {
            "item": ["u", "v", "u"],
            "annotator": ["a", "a", "b"],
            "label": ["x"] * 3,
            "weight": [1.0, 2.0, 3.0],
            "time": [10, 20, 30],
        }
    )

    labels = from_frame(table)

    assert labels.weights.tolist() == [1.0, 3.0, 2.0]
    assert labels.time is not None
    assert labels.time.tolist() == [10.0, 30.0, 20.0]
