"""Compare Raykar's method with scikit-activeml's AnnotatorLogisticRegression on the same simulated data.

    python -m benchmarks.raykar_peer [--peers PYTHON] [--rounds 20] [--units 1000]

Both run the same number of EM iterations with the same priors, so the results should only differ by the tolerances of
their optimisers. PYTHON is an interpreter with scikit-activeml; it runs in a separate process, which does not import
crowdlogic. Prints the share of equal labels and the largest differences in confusion matrices and predictions.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.machine import PEERS
from crowdlogic.annotators.confusion import ConfusionMatrices
from crowdlogic.classifiers.linear import Linear
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import simulate_crowd
from crowdlogic.learning.baselines import Raykar
from crowdlogic.learning.stopping import TrainingLimits
from crowdlogic.numerics.arrays import Floats

SMOOTHING, TRUST, RIDGE = 0.1, 1.0, 0.01
PEER = """
import sys, warnings
from importlib.metadata import version
import numpy as np
from skactiveml.classifier.multiannotator import AnnotatorLogisticRegression
warnings.simplefilter("ignore")
with np.load(sys.argv[1]) as arrays:
    features, votes, options = arrays["features"], arrays["votes"], arrays["options"]
classes, rounds, full, diagonal, weights = options
model = AnnotatorLogisticRegression(
    classes=list(range(int(classes))), missing_label=-1, tol=1e-9, max_iter=int(rounds), annot_prior_full=float(full),
    annot_prior_diag=float(diagonal), weights_prior=float(weights),
).fit(features, votes)
np.savez(sys.argv[2], p=model.predict_proba(features), confusion=model.Alpha_)
print(version("scikit-activeml"))
"""


def simulate_data(units: int, classes: int, seed: int) -> tuple[Corpus, CrowdLabels]:
    """Return clusters of points around class centres, labelled by annotators of various characters."""
    rng = np.random.default_rng(seed)
    crowd = simulate_crowd(rng, units=units, annotators=10, classes=classes, labels_per_unit=4)
    centres = rng.normal(scale=1.5, size=(classes, 4))
    features = centres[crowd.truth] + rng.normal(size=(units, 4))
    return Corpus(pl.Series(crowd.labels.items), features=features), crowd.labels


def fit_ours(corpus: Corpus, labels: CrowdLabels, rounds: int) -> Mapping[str, Floats]:
    """Return the predictions and confusion matrices of Raykar."""
    method = Raykar(
        Linear(ridge=RIDGE, steps=500),
        doubt=0.0,
        annotators=ConfusionMatrices(smoothing=SMOOTHING, trust=TRUST),
        limits=TrainingLimits(epochs=rounds, held_out=None),
    )
    learned = method.fit(corpus, labels)
    return {"p": learned.epoch.p, "confusion": np.asarray(learned.estimate.confusion)}


def fit_peer(python: str, corpus: Corpus, labels: CrowdLabels, rounds: int) -> tuple[Mapping[str, Floats], str]:
    """Return the predictions and confusion matrices of the peer, and its version."""
    votes = np.full((labels.n_units, len(labels.annotators)), -1)
    votes[labels.unit, labels.annotator] = labels.label
    options = [labels.n_classes, rounds, 1 + SMOOTHING, TRUST, RIDGE * labels.n_units]
    with tempfile.TemporaryDirectory() as folder:
        given, found = Path(folder, "given.npz"), Path(folder, "found.npz")
        np.savez(given, features=np.asarray(corpus.features), votes=votes, options=np.array(options))
        words = [python, "-c", PEER, str(given), str(found)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=600, check=True)
        with np.load(found) as arrays:
            return {name: arrays[name] for name in ("p", "confusion")}, done.stdout.strip()


def compare(python: str, *, units: int, classes: int, seed: int, rounds: int) -> str:
    """Return one line with the differences between the peer's results and ours."""
    corpus, labels = simulate_data(units, classes, seed)
    own = fit_ours(corpus, labels, rounds)
    other, version = fit_peer(python, corpus, labels, rounds)
    same = (own["p"].argmax(axis=1) == other["p"].argmax(axis=1)).mean()
    far: dict[str, Any] = {name: np.abs(own[name] - other[name]).max() for name in own}
    return (
        f"scikit-activeml {version}, {classes} classes, seed {seed}: {same:.2%} of predicted labels agree; "
        f"confusion matrices differ by at most {far['confusion']:.1e}, predictions by {far['p']:.1e}"
    )


def main() -> None:
    """Compare on two and four classes, with three seeds each."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--peers", default=str(PEERS), help="Python interpreter with scikit-activeml.")
    options.add_argument("--rounds", type=int, default=20, help="Number of EM iterations.")
    options.add_argument("--units", type=int, default=1000, help="Number of items.")
    chosen = options.parse_args()
    for classes in (2, 4):
        for seed in range(3):
            line = compare(chosen.peers, units=chosen.units, classes=classes, seed=seed, rounds=chosen.rounds)
            print(line, flush=True)


if __name__ == "__main__":
    main()
