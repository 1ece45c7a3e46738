"""Compare crowdlogic with Snorkel on labelling functions, with the commands that `doctor` prints for a csv file.

    CROWDLOGIC_DATA=DIR python -m benchmarks.labelling_functions [--snorkel .venv-snorkel/bin/python] [--seeds 5]

For weak/youtube and weak/sms, accuracy and F1 of the class 1 (spam) in percent:

- train: the command that `doctor` prints for train.csv, with --dev valid.csv; answers of the training items that a
  function labels, and predictions for test.csv by `predict --student`
- aggregate: the command that `doctor` prints
- Snorkel: its LabelModel on the same matrix (in a separate environment), the answers of the same items, and TF-IDF
  with logistic regression trained on these answers, on the test items

The last column is the reported range of wrong answers, or "none".
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import f1_score

from crowdlogic.extensions.paper.benchmarks import data_folder

SNORKEL_FIT = """
import json, sys, numpy as np
from snorkel.labeling.model import LabelModel
matrix = np.load(sys.argv[1])
model = LabelModel(cardinality=2, verbose=False)
model.fit(matrix, n_epochs=500, seed=int(sys.argv[2]), progress_bar=False)
print(json.dumps(model.predict_proba(matrix)[:, 1].tolist()))
"""


def run_command(*words: str) -> str:
    """Run crowdlogic and return what it prints; exit code 1 stands for a finding."""
    done = subprocess.run([sys.executable, "-m", "crowdlogic", *words], capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise RuntimeError(done.stderr)
    return done.stdout


def suggested_command(path: Path, name: str) -> list[str]:
    """Return the words of a command that `doctor` prints for a file, without its outputs."""
    lines = [line.strip() for line in run_command("doctor", str(path)).splitlines()]
    words = shlex.split(next(line for line in lines if line.startswith(f"crowdlogic {name} ")))[1:]
    return words[: words.index("-o")]


def score(answers: Any, gold: Any) -> tuple[float, float]:
    """Return accuracy and F1 of class 1, in percent."""
    return 100 * float(np.mean(answers == gold)), 100 * float(f1_score(gold, answers))


def answers_in(path: Path, items: Any) -> Any:
    """Return the answers of a file for some items, as integers."""
    table = pl.read_csv(path, infer_schema=False)
    answer = dict(zip(table["item"], table["label"], strict=True))
    return np.array([int(answer.get(item) or -1) for item in items])


def measure(
    name: str, snorkel: str | None, seed: int
) -> list[tuple[str, float, float, float | None, float | None, str]]:
    """Return one row per method: accuracy and F1 of the answers, of the test items, and the stated range."""
    folder = data_folder() / "weak" / name
    train, test = (pl.read_csv(folder / f"{part}.csv", infer_schema=False) for part in ("train", "test"))
    votes = train.select(pl.col("^lf.*$").cast(pl.Int64)).to_numpy()
    covered: Any = (votes >= 0).any(axis=1)
    items, gold = train["item"].filter(covered.tolist()), train["label"].cast(pl.Int64).to_numpy()
    test_gold = test["label"].cast(pl.Int64).to_numpy()
    rows: list[tuple[str, float, float, float | None, float | None, str]] = []
    with tempfile.TemporaryDirectory() as made:
        out = Path(made)

        # Ours, with the commands that doctor prints
        words = suggested_command(folder / "train.csv", "train")
        dev = ("--dev", str(folder / "valid.csv"), "--seed", str(seed), "--json")
        stated = json.loads(run_command(*words, *dev, "-o", str(out / "run")))["expected_accuracy"]
        run_command("predict", str(out / "run"), str(folder / "test.csv"), "--student", "-o", str(out / "test.csv"))
        inferred = score(answers_in(out / "run" / "truth.csv", items), gold[covered])
        tested = score(answers_in(out / "test.csv", test["item"]), test_gold)
        wrong = (
            "none" if stated is None or stated.get("low") is None else f"{stated['low']:.3f} to {stated['high']:.3f}"
        )
        rows.append(("train", *inferred, *tested, wrong))
        run_command(*suggested_command(folder / "train.csv", "aggregate"), "-o", str(out / "truth.csv"))
        rows.append(("aggregate", *score(answers_in(out / "truth.csv", items), gold[covered]), None, None, ""))

        # Snorkel's label model, and a classifier trained on its answers
        if snorkel:
            np.save(out / "votes.npy", votes)
            command = [snorkel, "-c", SNORKEL_FIT, str(out / "votes.npy"), str(seed)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            answers = (np.array(json.loads(done.stdout.splitlines()[-1])) > 0.5).astype(int)
            words_of = TfidfVectorizer(ngram_range=(1, 2))
            features = words_of.fit_transform(train["text"].filter(covered.tolist()).fill_null(""))
            model = LogisticRegression(max_iter=1000).fit(features, answers[covered])
            predicted = model.predict(words_of.transform(test["text"].fill_null("")))
            rows.append(("Snorkel", *score(answers[covered], gold[covered]), *score(predicted, test_gold), ""))
    return rows


def main() -> None:
    """Print the means over the seeds."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--snorkel", default=".venv-snorkel/bin/python", help="Python interpreter with Snorkel.")
    options.add_argument("--seeds", type=int, default=5)
    chosen = options.parse_args()
    snorkel = chosen.snorkel if Path(chosen.snorkel).exists() else None
    print("| set | method | answers: accuracy | F1 | test: accuracy | F1 | reported wrong answers |")
    print("|---|---|---|---|---|---|---|")
    for name in ("youtube", "sms"):
        runs = [measure(name, snorkel, seed) for seed in range(chosen.seeds)]
        for same in zip(*runs, strict=True):
            figures = [
                "" if same[0][column] is None else f"{np.mean([row[column] for row in same]):.2f}"
                for column in range(1, 5)
            ]
            print(f"| {name} | {same[0][0]} | {' | '.join(figures)} | {same[0][5]} |", flush=True)
    if snorkel is None:
        print("Snorkel was not measured: make .venv-snorkel/.installed", file=sys.stderr)


if __name__ == "__main__":
    main()
