from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from crowdlogic.errors import LabelError, OptionError
from crowdlogic.extensions.compat.cleanlab import (
    best_temperature,
    get_label_quality_multiannotator,
    majority_labels,
    pair_agreement,
    read_matrix,
)

ROOT = Path(__file__).parents[3]
NAN = np.nan


def planted(seed: int, *, items: int = 200, annotators: int = 8, classes: int = 3) -> tuple[pd.DataFrame, np.ndarray]:
    """Labels with holes, and the probabilities belong to a classifier that is right 7 times in 10."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(classes, size=items)
    right = rng.random((items, annotators)) < rng.uniform(0.5, 0.95, size=annotators)
    given = np.where(right, truth[:, None], rng.integers(classes, size=(items, annotators))).astype(float)
    given[rng.random(given.shape) < 0.6] = NAN
    given[np.isnan(given).all(axis=1), 0] = 1
    p = rng.dirichlet(np.ones(classes), size=items) + 1.5 * np.eye(classes)[truth] * (rng.random(items) < 0.7)[:, None]
    names = [f"a{j}" for j in range(annotators)]
    return pd.DataFrame(given, columns=names, index=[f"i{i}" for i in range(items)]), p / p.sum(axis=1, keepdims=True)


def test_consensus_quality_and_annotators_of_a_planted_crowd() -> None:
    labels, p = planted(0)

    found = get_label_quality_multiannotator(labels, p, return_weights=True)

    assert found["label_quality"].columns.tolist() == [
        "consensus_label", "consensus_quality_score", "annotator_agreement", "num_annotations",
    ]  # fmt: skip
    assert found["detailed_label_quality"].columns[0] == "quality_annotator_a0"
    assert (
        found["detailed_label_quality"]
        .isna()
        .equals(
            pd.DataFrame(labels.isna().to_numpy(), index=labels.index, columns=found["detailed_label_quality"].columns)
        )
    )
    assert found["annotator_stats"]["annotator_quality"].is_monotonic_increasing
    assert len(found["annotator_weight"]) == 8
    assert found["model_weight"] > 0


def test_the_posterior_by_plain_loops() -> None:
    labels, p = planted(1, items=40, annotators=4)
    cells = labels.to_numpy()

    found = get_label_quality_multiannotator(labels, p, consensus_method="majority_vote", return_weights=True)

    consensus = found["label_quality"]["consensus_label"].to_numpy()
    counts = (~np.isnan(cells)).sum(axis=1)
    agreement = np.array(
        [np.nanmean(np.where(np.isnan(row), NAN, row == c)) for row, c in zip(cells, consensus, strict=True)]
    )
    right = agreement[counts > 1].mean()
    weight, model = found["annotator_weight"], found["model_weight"]
    for i in range(40):
        score, total = model * p[i].copy(), model
        for j in range(4):
            if not np.isnan(cells[i, j]):
                says = np.where(np.arange(3) == cells[i, j], right, (1 - right) / 2)
                score, total = score + weight[j] * says, total + weight[j]
        assert found["label_quality"]["consensus_quality_score"].iloc[i] == pytest.approx(score[consensus[i]] / total)


def test_ties_go_to_the_classifier_then_to_the_rarer_class() -> None:
    cells = np.array([[0, 1, NAN], [0, 0, 0], [0, 1, NAN]])
    annotations = read_matrix(cells, np.full((3, 2), 0.5))

    assert majority_labels(annotations, np.array([[0.9, 0.1], [0.5, 0.5], [0.5, 0.5]])).tolist() == [0, 0, 1]


def test_agreement_with_other_annotators() -> None:
    cells = np.array([[0, 0, 1], [1, 1, NAN], [NAN, 0, 0]])

    # a agrees with b twice and with c never; b with a twice, with c once in two; c with b once, with a never
    np.testing.assert_allclose(pair_agreement(read_matrix(cells, np.full((3, 2), 0.5))), [2 / 3, 3 / 4, 1 / 3])


def test_overconfident_probabilities_are_cooled() -> None:
    labels, p = planted(2)
    sharp = p**4 / (p**4).sum(axis=1, keepdims=True)

    annotations = read_matrix(labels, p)

    assert best_temperature(annotations, sharp) > 2 * best_temperature(annotations, p)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"consensus_method": "mean"}, "consensus_method: expected one of best_quality, majority_vote; got 'mean'"),
        ({"quality_method": "x"}, "quality_method: expected one of crowdlab, agreement; got 'x'"),
        ({"quality_method": "agreement", "return_weights": True}, "return_weights requires"),
    ],
)
def test_other_options_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        get_label_quality_multiannotator(*planted(0), **change)


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([[0, 1], [NAN, NAN]], "Item 1 has no label"),
        ([[0, NAN], [NAN, 1]], "No item has two labels"),
        ([[0, 7], [0, 1]], "Labels range from 0 to 7, but pred_probs has 2 classes"),
        ([[0, 1]], "Both need one row per item"),
    ],
)
def test_other_matrices_are_refused(cells: list[list[float]], words: str) -> None:
    with pytest.raises(LabelError, match=words):
        get_label_quality_multiannotator(np.array(cells), np.full((2, 2), 0.5))


DRIVER = """
import json, sys
import numpy as np, pandas as pd
from cleanlab.multiannotator import get_label_quality_multiannotator as judge
labels, p = pd.read_parquet(sys.argv[1] + "/labels.parquet"), np.load(sys.argv[1] + "/p.npy")
found = {}
for name, options in json.loads(sys.argv[2]).items():
    one = judge(labels, p, verbose=False, **options)
    found[name] = {key: json.loads(frame.sort_index().to_json()) for key, frame in one.items()}
print(json.dumps(found))
"""
OPTIONS = {
    "default": {},
    "voted": {"consensus_method": "majority_vote"},
    "both": {"consensus_method": ["best_quality", "majority_vote"]},
}


@pytest.mark.heavy
@pytest.mark.parametrize("seed", range(3))
def test_figures_are_those_of_cleanlab(tmp_path: Path, seed: int) -> None:
    python = os.environ.get("CROWDLOGIC_PEERS_PYTHON", str(ROOT / ".venv-peers/bin/python"))
    if not Path(python).is_file():
        pytest.skip("there is no Python with cleanlab: make .venv-peers/.installed")
    labels, p = planted(seed)
    labels.to_parquet(tmp_path / "labels.parquet")
    np.save(tmp_path / "p.npy", p)
    words = [python, "-c", DRIVER, str(tmp_path), json.dumps(OPTIONS)]
    theirs = json.loads(subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()[-1])

    for name, options in OPTIONS.items():
        ours = get_label_quality_multiannotator(labels, p, **options)
        for key, frame in ours.items():
            expected = pd.DataFrame(theirs[name][key])
            found = frame.sort_index()
            assert found.columns.tolist() == expected.columns.tolist()
            np.testing.assert_allclose(
                found.to_numpy(float), expected.loc[found.index].to_numpy(float), rtol=0, atol=1e-9
            )
