"""Figures are measured once and written at once."""

import json

from benchmarks.figures_file import FiguresFile


def test_a_figure_is_measured_once_and_kept(tmp_path):
    path = tmp_path / "new" / "figures.json"
    calls = []

    def measure():
        calls.append(1)
        return {"seconds": 0.5}

    first = FiguresFile(path).get("a", measure)
    again = FiguresFile(path).get("a", measure)

    assert first == again == {"seconds": 0.5}
    assert len(calls) == 1
    assert json.loads(path.read_text()) == {"a": {"seconds": 0.5}}


def test_a_fresh_file_forgets_earlier_figures(tmp_path):
    path = tmp_path / "figures.json"
    FiguresFile(path).get("a", lambda: {"seconds": 1})

    assert FiguresFile(path, fresh=True).get("a", lambda: {"seconds": 2}) == {"seconds": 2}
