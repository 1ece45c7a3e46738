"""Thirty wrong turns in Python: each is one whole sentence at the border, and no error from deep inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import crowdlogic as cl
from crowdlogic import metrics, rules
from crowdlogic.confidence.calibration import infer_calibrated
from crowdlogic.errors import name_list
from crowdlogic.registry import CLASSIFIERS, TRUTH_METHODS
from crowdlogic.truth.methods import WHAT_IT_IS

FRAME = pd.DataFrame({"item": ["u", "u", "v", "v"], "annotator": ["a", "b", "a", "b"], "label": ["x", "y", "y", "y"]})
ITEMS = pd.DataFrame({"item": ["u", "v"], "text": ["one", "two"]})
LABELS, CORPUS = cl.from_frame(FRAME), cl.data.corpus_from_frame(ITEMS)
SENTENCES = cl.data.from_sequences([("s", "a", ["B-X", "O"])])
ONE = cl.TrainingLimits(epochs=1, held_out=None)
LEARNED = cl.LogicLNCL(limits=ONE).fit(CORPUS, LABELS)


LONG = cl.Vocabulary()
LONG.predicate("Long")(lambda text: len(text) > 3)


class Seedless:
    """Options of a classifier whose build takes no seed."""

    name = "seedless"

    def build(self, corpus, classes):
        raise NotImplementedError

    def load(self, arrays, classes):
        raise NotImplementedError


class Short:
    """A truth method that takes labels and nothing else."""

    name = "short"

    def infer(self, labels):
        return cl.data.make_estimate(labels, self.name, labels.votes())


TAKES_ROWS = 'Give a list of (item, annotator, tags), such as [("s1", "ann", ["B-PER", "O"])].'

WRONG: list[tuple[Callable[[], Any], str]] = [
    (
        lambda: cl.DawidSkene().infer("labels.csv"),
        "infer: expected labels, got 'labels.csv'. Read a file with read_labels(path).",
    ),
    (
        lambda: cl.DawidSkene().infer([("u", "a", "x")]),
        "infer: expected labels, got a list. Create labels with from_frame or from_dict.",
    ),
    (
        lambda: cl.DawidSkene().infer(CORPUS, LABELS),
        "infer: got items instead of labels. Write infer(labels), or infer(labels, corpus).",
    ),
    (
        lambda: cl.DawidSkene().infer(None),
        "infer: expected labels, got a NoneType. Create labels with from_frame or from_dict.",
    ),
    (
        lambda: cl.MajorityVote().infer(ITEMS),
        'the table: no column for the annotator and the label among item, text. A label table needs: item, annotator, label. Rename the columns (annotator, worker, rater, user, ...; label, answer, response, class, ...) or name them: from_frame(table, columns={"annotator": "NAME", "label": "NAME"}).',
    ),
    (
        lambda: cl.truth.HMMCrowd().infer(LABELS),
        "hmm-crowd is for sequences: tags of the tokens of sentences. These labels are of single items; use dawid-skene, ibcc or another method for them.",
    ),
    (
        lambda: cl.expected_accuracy(pl.DataFrame({"item": ["u"]})),
        "expected_accuracy: DataFrame cannot be used here. Write expected_accuracy(crowdlogic.aggregate(labels)).",
    ),
    (
        lambda: cl.LogicLNCL().fit(CORPUS, LABELS, rules=7),
        "rules: a int cannot be used as rules. Pass their text, a list of texts, or read_rules('my.rules').",
    ),
    (
        lambda: cl.LogicLNCL(limits={"epochs": 5}).fit(CORPUS, LABELS),
        "limits: dict cannot be used here. Write limits=TrainingLimits(epochs=5).",
    ),
    (
        lambda: cl.LogicLNCL().fit(CORPUS, LABELS, vocabulary={"Shouting": len}),
        "vocabulary: dict cannot be used here. Create one: words = Vocabulary(); words.predicate('Shouting')(function); then pass vocabulary=words.",
    ),
    (
        lambda: cl.LogicLNCL().fit(CORPUS, LABELS, anchors="gold.csv"),
        "fit: anchors are a str. Pass a dictionary item -> true class: {'t1': 'billing'}.",
    ),
    (
        lambda: cl.LogicLNCL().fit(CORPUS, LABELS, dev=["a text"]),
        "fit: dev is a list. Pass a frame of item, text and label (the truth), or a Corpus with gold.",
    ),
    (
        lambda: cl.LogicLNCL().fit(CORPUS, LABELS, save=True),
        "fit: save: bool cannot be used here. Name a new folder: save='run'.",
    ),
    (lambda: cl.load_run(None), "load_run: NoneType cannot be used here. Pass the folder: load_run('run')."),
    (
        lambda: cl.write_estimate(cl.MajorityVote().infer(LABELS), "e.csv"),
        "write_estimate: Estimate cannot be used here. The first argument is the file, the second the data.",
    ),
    (
        lambda: cl.annotator_table(LABELS, np.zeros(3)),
        "annotator_table: ndarray cannot be used here. Write annotator_table(labels, method.infer(labels)).",
    ),
    (
        lambda: metrics.accuracy(cl.MajorityVote().infer(LABELS), np.zeros(1)),
        "scores: Estimate cannot be used here. Give arrays of class codes, gold first, then the answers. An estimate is scored by truth.compare_methods(['ensemble'], labels, gold={'t1': 'billing'}).",
    ),
    (
        lambda: cl.Ensemble([cl.DawidSkene()]),
        "ensemble: half: list cannot be used here. Give a number.",
    ),
    (
        lambda: rules.estimate_weights("1.0: Label(S, 'x')", LABELS),
        "estimate_weights: str cannot be used here. Ground the rules first: Projector(rules=...).ground(...).",
    ),
    (
        lambda: rules.check(7),
        "rules: a int cannot be used as rules. Pass their text, a list of texts, or read_rules('my.rules').",
    ),
    (lambda: cl.DawidSkene(smoothing=-1), "dawid-skene: smoothing must be at least 0, got -1."),
    (
        lambda: cl.LogicLNCL().fit(LABELS, CORPUS),
        "fit: got labels instead of items, or items instead of labels. Write fit(corpus, labels).",
    ),
    (
        lambda: cl.LogicLNCL().fit(CORPUS),
        "fit: no labels. Write fit(corpus, labels), or pass one frame with item, annotator, label, text.",
    ),
    (
        lambda: cl.LogicLNCL().fit(pl.DataFrame({"item": ["u"], "annotator": ["a"], "label": ["x"]})),
        "fit: the frame of labels has no column of texts, or several texts for one item. Pass the items as well: fit(items, labels).",
    ),
    (
        lambda: cl.from_frame(pl.DataFrame({"item": ["u"], "gpt": ["x"], "ann": ["y"]})),
        'the table: no column for the annotator and the label among item, gpt, ann. A label table needs: item, annotator, label. Rename the columns (annotator, worker, rater, user, ...; label, answer, response, class, ...) or name them: from_frame(table, columns={"annotator": "NAME", "label": "NAME"}). Read a table with one column per annotator with from_wide.',
    ),
    (
        lambda: cl.from_frame(FRAME.rename(columns={"item": "ticket"}), columns={"ticket": "item"}),
        "columns: the role comes first, then the column. Did you mean item=ticket?",
    ),
    (
        lambda: cl.learning.TwoStage(truth="glade"),
        "No truth method is called 'glade'. Did you mean 'glad'? There are " + ", ".join(TRUTH_METHODS) + ".",
    ),
    (lambda: cl.learning.TwoStage(truth=cl.GLAD), "truth: GLAD is a class. Pass an instance: GLAD()."),
    (lambda: cl.learning.TwoStage(truth=Short()), f"truth: a Short has infer(labels). {WHAT_IT_IS}"),
    (lambda: cl.learning.TwoStage(truth=object()), f"truth: a object has no attribute `name`. {WHAT_IT_IS}"),
    (lambda: infer_calibrated(Short(), LABELS), f"truth: a Short has infer(labels). {WHAT_IT_IS}"),
    (
        lambda: cl.LogicLNCL().fit(CORPUS, "labels.csv"),
        "fit: expected labels, got 'labels.csv'. Read a file with read_labels(path).",
    ),
    (
        lambda: cl.LogicLNCL().fit("items.csv", LABELS),
        "Expected a list of items, got the text 'items.csv'. Write [text].",
    ),
    (
        lambda: cl.LogicLNCL().fit(["one"], LABELS),
        "fit: 1 text for 2 labelled items. Pass one text per item, in the order of labels.items, or a frame with the names of the items.",
    ),
    (
        lambda: cl.LogicLNCL().fit(7, LABELS),
        "Expected items, got int. Give a Corpus, a frame of items, a dictionary item -> text, a list of texts or a list of token lists.",
    ),
    (
        lambda: cl.LogicLNCL(classifier="liner").fit(CORPUS, LABELS),
        f"No classifier is called 'liner'. Did you mean 'linear'? There are {', '.join(CLASSIFIERS)}.",
    ),
    (
        lambda: cl.LogicLNCL(classifier=7).fit(CORPUS, LABELS),
        f"classifier: a int is not a classifier. Pass a name ({name_list(CLASSIFIERS)}), one of crowdlogic's classifiers such as Linear(), a scikit-learn estimator, a torch.nn.Module, a function from items to probabilities, or an object with a name, build(corpus, classes, *, seed) and load(arrays, classes), as docs/how-to/extending.md shows.",
    ),
    (
        lambda: cl.LogicLNCL(classifier=cl.Linear).fit(CORPUS, LABELS),
        "classifier: Linear is a class. Pass an instance: Linear(...).",
    ),
    (
        lambda: cl.LogicLNCL(classifier=Seedless()).fit(CORPUS, LABELS),
        "classifier: a Seedless has build(corpus, classes). A classifier is an object with a name, build(corpus, classes, *, seed) and load(arrays, classes), as docs/how-to/extending.md shows.",
    ),
    (
        lambda: cl.LogicLNCL(limits=ONE).fit(CORPUS, LABELS, rules="1: Long(S) -> Label(S, 'x')", vocabulary=LONG),
        "the rules:1:4: Long returned a bool. Its function takes a list of texts, and must return a number from 0 to 1 for each of them.\n    1: Long(S) -> Label(S, 'x')\n       ^",
    ),
    (
        lambda: cl.LogicLNCL(limits=ONE).fit(CORPUS, LABELS, rules="1.0: Lable(S, 'x') -> Label(S, 'y')"),
        "the rules:1:6: unknown predicate 'Lable'. Did you mean 'Label'? Or supply its facts: --table Lable=FILE.\n    1.0: Lable(S, 'x') -> Label(S, 'y')\n         ^",
    ),
    (
        lambda: cl.LogicLNCL(limits=ONE).fit(CORPUS, LABELS, rules="but.rules"),
        "rules: 'but.rules' names a file. Read it: rules=read_rules('but.rules').",
    ),
    (
        lambda: cl.LogicLNCL(limits=ONE).fit(CORPUS, LABELS, anchors={"z": "x"}),
        "No item is called 'z'. There are u, v.",
    ),
    (
        lambda: cl.LogicLNCL(limits=ONE).fit(CORPUS, LABELS, anchors={"u": "zebra"}),
        "The anchor of item 'u' is 'zebra', which is not among the classes x, y. Correct the anchor, or add the class to the classes of the labels.",
    ),
    (
        lambda: cl.LogicLNCL(limits=ONE).fit(cl.data.documents(["u"], ["one"]), LABELS),
        "Item 'v' has labels but no text (1 such items). Add the items to the corpus, or select the labels of its items.",
    ),
    (
        lambda: cl.LogicLNCL(limits=ONE).fit(CORPUS, SENTENCES),
        "Item 's' has labels but no text (1 such items). Add the items to the corpus, or select the labels of its items.",
    ),
    (lambda: cl.TrainingLimits(epochs=0), "epochs and patience must be at least 1, got 0 and 5."),
    (lambda: LEARNED.predict("one text"), "Expected a list of items, got the text 'one text'. Write [text]."),
    (
        lambda: LEARNED.predict(LABELS),
        "Expected items, got labels. Give a Corpus, a frame of items, a dictionary item -> text, a list of texts or a list of token lists.",
    ),
    (
        lambda: LEARNED.predict([1, 2]),
        "Expected items, got a list of neither texts nor token lists. Give a Corpus, a frame of items, a dictionary item -> text, a list of texts or a list of token lists.",
    ),
    (
        lambda: LEARNED.predict(cl.data.sentences(["s"], [["a", "b"]])),
        "These items are tokenised sentences, but the classifier was trained on documents. Give texts.",
    ),
    (
        lambda: cl.load_run("no-such-run"),
        "no-such-run: contains no config.json, so it is not a run. Name a folder written by `train`.",
    ),
    (
        lambda: cl.load_estimate("no-such-estimate"),
        "no-such-estimate: contains no estimate.safetensors, so it is not an estimate. Name a folder written by save_estimate or `aggregate --save`.",
    ),
    (lambda: cl.read_labels("no-such-folder/labels.csv"), "no-such-folder/labels.csv: no such file."),
    (
        lambda: cl.from_frame(FRAME.drop(columns="annotator")),
        'the table: no column for the annotator among item, label. A label table needs: item, annotator, label. Rename the column (annotator, worker, rater, user, ...) or name it: from_frame(table, columns={"annotator": "NAME"}).',
    ),
    (
        lambda: cl.from_frame(FRAME, columns={"itme": "item"}),
        "columns: unknown role 'itme'. Did you mean 'time'? Roles are item, annotator, label, tags, tokens, text, negated, weight, time, kind.",
    ),
    (
        lambda: cl.from_frame(FRAME, columns={"item": "ticket"}),
        "the table: no column 'ticket' among item, annotator, label.",
    ),
    (
        lambda: cl.from_frame(FRAME, duplicates="merge"),
        "duplicates: expected one of error, first, last, keep; got 'merge'.",
    ),
    (
        lambda: cl.from_frame(FRAME, classes=["x"]),
        "the table, row 1: the label 'y' is not among the classes x. Correct the label, or add it to the classes. (2 more such rows: 2, 3)",
    ),
    (
        lambda: cl.from_frame([1, 2, 3]),
        "the table is a list, not a data frame. Give a frame of pandas, polars or pyarrow, or use from_arrays, from_dict or from_matrix.",
    ),
    (
        lambda: cl.data.from_wide(FRAME, item="item"),
        "the table: is a long table with one row per label (item, annotator, label), not a wide table with one column per annotator. To read it, use from_frame.",
    ),
    (
        lambda: cl.data.from_matrix([[0.5, 1.0]]),
        "A label matrix must have two axes and integers, got 2 axes and float64.",
    ),
    (
        lambda: cl.data.from_dict({"u": {"a": ["x", "y"]}}),
        "the lists: expected one class per label, but the column has type List(String). Name a column with the tags of sentences 'tags'. For several labels per item, make one table per class with the labels yes and no.",
    ),
    (
        lambda: cl.data.corpus_from_frame(FRAME),
        'the table: no column for the text among item, annotator, label. A table of items needs: item, text. Rename the column (text, content, review, comment, ...) or name it: columns={"text": "NAME"}.',
    ),
    (
        lambda: cl.data.corpus_from_frame(pl.DataFrame({"item": ["u", "u"], "text": ["one", "two"]})),
        "the table, row 1: item 'u' appears again. Give each item once.",
    ),
    (lambda: cl.data.documents(["u"], ["one", "two"]), "texts has 2 entries where 1 is expected."),
    (
        lambda: cl.parse_rules("Label(S, 'x' -> Label(S, 'y')"),
        "the rules:1:14: unexpected '->'; expected ')' or ','.\n    Label(S, 'x' -> Label(S, 'y')\n                 ^",
    ),
    (
        lambda: cl.truth.compare_methods(LABELS, ["mace"]),
        "compare_methods: got labels instead of methods. Write compare_methods(methods, labels).",
    ),
    (
        lambda: cl.truth.compare_methods(["mace"], "labels.csv"),
        "compare_methods: expected labels, got 'labels.csv'. Read a file with read_labels(path).",
    ),
    (
        lambda: cl.truth.compare_methods(["mace"], LABELS, gold=["x", "y"]),
        "compare_methods: a list cannot be used as gold. Pass a frame with item and label, {item: class}, or a Corpus with gold.",
    ),
    (
        lambda: cl.data.make_estimate(LABELS, "mine", [[0.5, 0.5]]),
        "make_estimate: mine has beliefs of shape (1, 2) for labels of shape (2, 2). Give a row for each unit and a column for each class.",
    ),
    (
        lambda: cl.LogicLNCL(start="mase"),
        "No truth method is called 'mase'. Did you mean 'mace'? There are " + ", ".join(TRUTH_METHODS) + ".",
    ),
    (lambda: cl.LogicLNCL(start=cl.MACE), "start: MACE is a class. Pass an instance: MACE()."),
    (lambda: cl.LogicLNCL(start=Short()), f"start: a Short has infer(labels). {WHAT_IT_IS}"),
    (
        lambda: cl.data.from_sequences({"ann": [["B-X", "O"]]}),
        f"from_sequences: expected rows, got a dict. {TAKES_ROWS}",
    ),
    (
        lambda: cl.data.from_sequences(FRAME),
        f"from_sequences: expected rows, got a DataFrame. {TAKES_ROWS} Use from_frame for a data frame.",
    ),
    (lambda: cl.data.from_sequences([["B-X", "O"]]), f"from_sequences: row 0 is ['B-X', 'O']. {TAKES_ROWS}"),
    (
        lambda: cl.data.from_sequences([("s", "a", "B-X O")]),
        f"from_sequences: the tags of row 0 are 'B-X O'. {TAKES_ROWS}",
    ),
    (
        lambda: cl.annotator_table(SENTENCES, cl.MajorityVote().infer(LABELS)),
        "The estimate is not of these labels. Give the labels from which it was computed.",
    ),
]


@pytest.mark.parametrize(("wrong", "message"), WRONG)
def test_a_wrong_turn_is_one_whole_sentence(wrong: Callable[[], Any], message: str) -> None:
    with pytest.raises(cl.CrowdLogicError) as caught:
        wrong()

    assert str(caught.value) == message


def test_there_are_thirty_of_them() -> None:
    assert len(WRONG) >= 30


def test_a_predicate_written_for_one_text_says_how_it_is_called() -> None:
    words = cl.Vocabulary()
    words.predicate("Shouting")(lambda text: text.isupper())
    rules = cl.parse_rules("1: Shouting(S) -> Label(S, 'x')")

    with pytest.raises(cl.CrowdLogicError) as refused:
        cl.LogicLNCL(limits=ONE).fit(CORPUS, LABELS, rules=rules, vocabulary=words)

    assert str(refused.value) == (
        "the rules:1:4: Shouting: its function failed (AttributeError: 'list' object has no attribute 'isupper'). It is called once "
        "with the list of all texts, and answers each with a truth from 0 to 1.\n    1: Shouting(S) -> Label(S, 'x')\n       ^"
    )
