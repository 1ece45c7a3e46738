"""Count the errors of trained taggers by kind: boundaries, type, missed or invented entities.

    python -m benchmarks.tagger_errors RUN [RUN ...]        # runs of a tagger on ner_conll_mturk

Errors are in percent of the gold entities (invented: of the predicted entities), for each run and in total: those of
the answers for the training items, and of the teacher's predictions on the dev and test items. Needs CROWDLOGIC_DATA.
"""

from __future__ import annotations

import argparse
from itertools import pairwise

import numpy as np

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.frames import from_sequences
from crowdlogic.extensions.paper.benchmarks import load_benchmark
from crowdlogic.learning.saved_run import Run, load_run
from crowdlogic.metrics.spans import SpanErrors, count_span_errors
from crowdlogic.numerics.arrays import Ints

KINDS = {"boundary": "bounds", "wrong_type": "type", "ignored": "missed", "spurious": "invented"}


def errors(corpus: Corpus, answer: Ints) -> SpanErrors:
    """Return the errors of answers, as if one annotator had given them."""
    names = [str(corpus.classes[k]) for k in answer]
    offsets = np.asarray(corpus.offsets).tolist()
    rows = [(s, "tagger", names[begin:end]) for s, (begin, end) in enumerate(pairwise(offsets)) if end > begin]
    labels = from_sequences(rows).with_classes(corpus.classes)
    gold = np.asarray(corpus.gold)
    return count_span_errors(labels, gold)


def describe(found: SpanErrors) -> str:
    """Return F1 and the shares of the kinds of error as text."""
    rates = {name: 100 * float(share[0]) for name, share in found.rates().items()}
    f1 = 2 * float(found.precision[0]) * float(found.recall[0]) / max(float(found.precision[0] + found.recall[0]), 1e-9)
    return f"F1 {100 * f1:.2f}; " + ", ".join(f"{word} {rates[name]:.1f} %" for name, word in KINDS.items())


def parts(run: Run) -> dict[str, tuple[Corpus, Ints]]:
    """Yield what is scored: the answers for training items, and predictions on dev and test items."""
    data, classes = load_benchmark("ner_conll_mturk"), run.estimate.classes
    found = {"training items": (run.learned.task.corpus.with_classes(classes), np.asarray(run.estimate.answer))}
    for name, corpus in (("dev", data.dev), ("test", data.test)):
        if corpus is not None:
            items = corpus.with_classes(classes)
            found[name] = (items, run.learned.answer(items))
    return found


def main() -> None:
    """Print the errors of every run."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("runs", nargs="+")
    for folder in options.parse_args().runs:
        for name, (corpus, answer) in parts(load_run(folder)).items():
            print(f"{folder}, {name}: {describe(errors(corpus, answer))}", flush=True)


if __name__ == "__main__":
    main()
