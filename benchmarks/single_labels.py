"""Measure training on one noisy label per item, and the ranking of suspect labels, against cleanlab and scikit-learn.

    python -m benchmarks.single_labels [--seeds 5] [--sets sentiment labelme simulated] [--peers .venv-peers/bin/python]

For each seed one label of each item is drawn at random. Four figures are printed per set, in percent:

- labels: share of the drawn labels that are right
- inference, with and without annotator names: accuracy of the answers of `train` with its defaults
- test: accuracy on test items, of `train` (student) and of the same classifier trained on the labels as they are
- AUC of the ranking of wrong labels: `find_label_issues`, out-of-fold logistic regression on TF-IDF (or on the
  features) with shuffled folds, and cleanlab on the same out-of-fold probabilities, in a separate environment
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

import crowdlogic
from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import build, fit_epoch, predict_units
from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.simulate import simulate_sentiment
from crowdlogic.extensions.paper.benchmarks import load_benchmark
from crowdlogic.learning.label_issues import find_label_issues

PLAIN_EPOCHS = 10
"""Epochs of the classifier that is trained on the labels as they are; its loss is convex, so it has converged."""


def load_set(name: str) -> tuple[CrowdLabels, Corpus, Corpus]:
    """Return labels, items with gold, and test items with gold."""
    if name == "simulated":
        made = simulate_sentiment(7, items=2000, annotators=40, labels_per_item=4, test_items=1000)
        assert made.test is not None
        return made.labels, made.corpus, made.test
    known = {"sentiment": "sentiment_mturk", "labelme": "truth/labelme"}[name]
    made_of = load_benchmark(known)
    test = load_benchmark(known, split="clean").test if name == "sentiment" else made_of.test
    assert made_of.corpus is not None
    assert test is not None
    return made_of.labels, made_of.corpus, test


def draw_single(labels: CrowdLabels, seed: int) -> CrowdLabels:
    """Keep one random label per item."""
    order = np.random.default_rng(seed).permutation(labels.n_labels)
    first = np.unique(labels.unit[order], return_index=True)[1]
    return labels.take(np.sort(order[first]))


def without_names(labels: CrowdLabels) -> CrowdLabels:
    """Return the same labels as those of one unnamed annotator."""
    answers = [labels.classes[code] for code in labels.label]
    names = labels.items.gather(labels.unit)
    return crowdlogic.from_frame({"item": names.to_list(), "annotator": ["annotator"] * len(answers), "label": answers})


def accuracy(p: Any, corpus: Corpus, classes: Any) -> float:
    """Return the share of items of a corpus with gold whose most probable class is right."""
    gold = np.asarray(corpus.with_classes(classes).gold)
    return float((np.asarray(p).argmax(axis=1) == gold)[gold >= 0].mean())


def out_of_fold(corpus: Corpus, given: Any, seed: int) -> Any:
    """Return out-of-fold probabilities of a logistic regression, as a user of scikit-learn would make them."""
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    features = (
        corpus.features if corpus.texts is None else TfidfVectorizer(ngram_range=(1, 2)).fit_transform(corpus.texts)
    )
    return cross_val_predict(LogisticRegression(max_iter=1000), features, given, cv=folds, method="predict_proba")


CLEANLAB = """
import json, sys, numpy as np
from cleanlab.rank import get_label_quality_scores
data = np.load(sys.argv[1])
print(json.dumps(get_label_quality_scores(data["given"], data["p"]).tolist()))
"""


def cleanlab_scores(python: str, given: Any, p: Any) -> Any:
    """Return cleanlab's label quality scores, computed in the peers' environment."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.npz"
        np.savez(path, given=given, p=p)
        done = subprocess.run([python, "-c", CLEANLAB, str(path)], capture_output=True, text=True, check=True)
    return np.array(json.loads(done.stdout))


def measure(name: str, seed: int, peers: str | None) -> dict[str, float]:
    """Return the figures of one set and seed."""
    labels, corpus, test = load_set(name)
    labels, corpus = align(draw_single(labels, seed), corpus)
    classes = labels.classes
    gold = np.asarray(corpus.with_classes(classes).gold)
    unit_label = np.full(labels.n_units, -1)
    unit_label[labels.unit] = labels.label
    used = (unit_label >= 0) & (gold >= 0)
    found = {"labels": float((unit_label == gold)[used].mean())}

    # Training, with and without annotator names.
    for kind, given in (("with names", labels), ("without names", without_names(labels))):
        learned = crowdlogic.train(given, corpus, model="linear", seed=seed)
        found[f"inference {kind}"] = accuracy(learned.estimate.beliefs, learned.task.corpus, learned.estimate.classes)
        found[f"test {kind}"] = accuracy(learned.predict(test, student=True), test, learned.estimate.classes)
    plain = build(Linear(), corpus, classes, seed=seed)
    one_hot = np.where(unit_label[:, None] >= 0, np.eye(len(classes))[unit_label], 1.0 / len(classes))
    for _ in range(PLAIN_EPOCHS):
        fit_epoch(plain, corpus, one_hot, (unit_label >= 0).astype(np.float64))
    found["test plain"] = accuracy(predict_units(plain, test, n_classes=len(classes)), test, classes)

    # Ranking of suspect labels: a wrong label should get a low score.
    wrong = (unit_label != gold)[used]
    if corpus.texts is not None or corpus.features is not None:
        for kind, given in (("with names", labels), ("without names", without_names(labels))):
            table = find_label_issues(corpus, given, seed=seed)
            score = dict(zip(table["item"].to_list(), table["probability"].to_list(), strict=True))
            ours = np.array([score[item] for item in corpus.items.filter(used.tolist()).to_list()])
            found[f"AUC {kind}"] = roc_auc_score(wrong, -ours)
        p = out_of_fold(corpus, unit_label, seed)
        found["AUC logistic regression"] = roc_auc_score(wrong, -p[np.arange(len(p)), unit_label][used])
        if peers:
            found["AUC cleanlab"] = roc_auc_score(wrong, -cleanlab_scores(peers, unit_label, p)[used])
    return found


def main() -> None:
    """Print the means over the seeds."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seeds", type=int, default=5)
    options.add_argument("--sets", nargs="+", default=["sentiment", "labelme", "simulated"])
    options.add_argument("--peers", default=".venv-peers/bin/python", help="Python interpreter with cleanlab.")
    chosen = options.parse_args()
    peers = chosen.peers if Path(chosen.peers).exists() else None
    warnings.simplefilter("ignore")
    for name in chosen.sets:
        rows = [measure(name, seed, peers) for seed in range(chosen.seeds)]
        print(f"{name} ({chosen.seeds} seeds)")
        for figure in rows[0]:
            values = [100 * row[figure] for row in rows]
            print(f"  {figure:28s} {np.mean(values):6.2f}  ({min(values):.2f} to {max(values):.2f})", flush=True)
    if peers is None:
        print("cleanlab was not measured: make .venv-peers/.installed", file=sys.stderr)


if __name__ == "__main__":
    main()
