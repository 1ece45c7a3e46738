"""The tables of the paper: which of our rows stands beside which of its lines, and what the paper says there.

[LNCL] "Learning from Noisy Crowd Labels with Logics", Tables 3, 4 and 5; means over 50 runs (sentiment) and 30 (NER).
The figures here are the paper's. Ours are never typed in: they come from the files of finished runs.
"""

from __future__ import annotations

from dataclasses import dataclass

SENTIMENT, NER = "sentiment", "ner"

TWO, ONE, TRUTH, BOUND = "two-stage", "one-stage", "truth inference", "upper bound"


@dataclass(frozen=True)
class Line:
    """A line of Table 3 or 4.

    Attributes:
        paradigm: As the paper sorts its methods.
        name: As the paper calls it.
        row: Our row.
        part: Whose prediction is reported: the student's or the teacher's; None where nothing is predicted.
        inference: The row whose inference is reported; None for the row's own.
        prediction: What the paper reports: accuracy, or precision, recall and F1.
        inferred: What the paper reports of inference.
        quoted: Whether the paper quotes it from another one.
    """

    paradigm: str
    name: str
    row: str
    part: str | None
    inference: str | None = None
    prediction: tuple[float, ...] = ()
    inferred: tuple[float, ...] = ()
    quoted: bool = False


@dataclass(frozen=True)
class Ablation:
    """A line of Table 5: our rows on both tasks, whose prediction, and what the paper reports.

    Attributes:
        name: As the paper calls it.
        sentiment: Our row on the sentiment task.
        ner: Our row on the NER task.
        part: Whose prediction is reported.
        paper: Prediction and inference on sentiment, the same on NER, and their average.
        inference: The rows whose inference is reported, where they are others.
    """

    name: str
    sentiment: str
    ner: str
    part: str
    paper: tuple[float, float, float, float, float]
    inference: tuple[str | None, str | None] = (None, None)


VOTE, CONLL_VOTE = "truth majority", "truth majority, paper's ties"

TABLE_3 = (
    Line(TWO, "MV-Classifier", "majority", "student", VOTE, (78.08,), (88.58,)),
    Line(TWO, "GLAD-Classifier", "glad", "student", None, (78.45,), (91.76,)),
    Line(ONE, "Raykar", "raykar", "student", None, (), (91.48,)),
    Line(ONE, "AggNet", "aggnet", "student", None, (78.47,), (91.63,)),
    Line(ONE, "CL (VW)", "cl vw", "student", None, (78.22,), (88.00,)),
    Line(ONE, "CL (VW-B)", "cl vw-b", "student", None, (78.04,), (87.51,)),
    Line(ONE, "CL (MW)", "cl mw", "student", None, (78.28,), (88.30,)),
    Line(ONE, "Logic-LNCL-student", "logic-lncl", "student", None, (78.85,), (91.82,)),
    Line(ONE, "Logic-LNCL-teacher", "logic-lncl", "teacher", None, (79.22,), (91.82,)),
    Line(TRUTH, "MV", VOTE, None, None, (), (88.58,)),
    Line(TRUTH, "DS", "truth dawid-skene", None, None, (), (91.48,)),
    Line(TRUTH, "GLAD", "truth glad", None, None, (), (91.76,)),
    Line(TRUTH, "PM", "truth pm", None, None, (), (89.66,)),
    Line(TRUTH, "CATD", "truth catd", None, None, (), (91.49,)),
    Line(BOUND, "Gold", "gold", "student", None, (79.26,), (100.0,)),
)

TABLE_4 = (
    Line(TWO, "MV-Classifier", "majority", "student", None, (65.14, 45.98, 53.89), (79.12, 58.50, 67.27)),
    Line(ONE, "AggNet", "aggnet", "student", None, (61.67, 58.64, 60.09), (77.19, 73.02, 75.04)),
    Line(ONE, "CL (VW, 5)", "cl vw", "student", None, (69.37, 52.11, 59.32), (79.19, 71.72, 75.25)),
    Line(ONE, "CL (VW-B, 5)", "cl vw-b", "student", None, (58.23, 59.92, 58.97), (75.27, 73.41, 74.30)),
    Line(ONE, "CL (MW, 5)", "cl mw", "student", None, (62.98, 61.57, 62.19), (78.37, 75.14, 76.70)),
    Line(ONE, "CL (MW, 1)", "cl mw 1", "student", None, (53.75, 44.70, 48.19), (61.93, 50.21, 54.42)),
    Line(ONE, "Logic-LNCL-student", "logic-lncl", "student", None, (66.53, 59.29, 62.69), (84.90, 74.11, 79.14)),
    Line(ONE, "Logic-LNCL-teacher", "logic-lncl", "teacher", None, (70.10, 58.99, 64.06), (84.90, 74.11, 79.14)),
    Line(ONE, "CRF-MA", "crf-ma", "student", None, (49.4, 85.6, 62.6), (86.0, 65.6, 74.4), quoted=True),
    Line(ONE, "DL-DN", "dl-dn", "student", None, (72.3, 45.9, 56.2), (), quoted=True),
    Line(ONE, "DL-WDN", "dl-wdn", "student", None, (61.1, 48.0, 53.4), (), quoted=True),
    Line(TRUTH, "MV", CONLL_VOTE, None, None, (), (79.12, 58.50, 67.27)),
    Line(TRUTH, "DS", "truth dawid-skene", None, None, (), (79.0, 70.4, 74.4), quoted=True),
    Line(TRUTH, "IBCC", "truth ibcc", None, None, (), (79.0, 70.4, 74.4), quoted=True),
    Line(TRUTH, "BSC-seq", "truth bsc-seq", None, None, (), (80.3, 74.8, 77.4), quoted=True),
    Line(TRUTH, "HMM-Crowd", "truth hmm-crowd", None, None, (), (77.40, 72.29, 74.76), quoted=True),
    Line(BOUND, "Gold", "gold", "student", None, (72.52, 73.51, 72.98), (100.0, 100.0, 100.0)),
)

TABLES = {SENTIMENT: TABLE_3, NER: TABLE_4}

TABLE_5 = (
    Ablation("MV-Rule", "majority rule", "majority rule", "student", (78.41, 88.96, 47.66, 61.63, 69.17)),
    Ablation("GLAD-Rule (AggNet-Rule)", "glad rule", "aggnet rule", "student", (78.62, 91.74, 61.65, 77.52, 77.38)),
    Ablation("w/o-Rule", "aggnet", "without rules", "student", (78.47, 91.63, 60.11, 75.28, 76.37)),
    Ablation("MV-t", "majority", "majority", "teacher", (78.83, 88.58, 46.77, 67.27, 70.36), (VOTE, None)),
    Ablation("our-other-rules-student", "other rules", "other rules", "student", (78.79, 91.72, 50.71, 75.07, 74.07)),
    Ablation("our-other-rules-teacher", "other rules", "other rules", "teacher", (78.79, 91.72, 1.23, 75.07, 61.70)),
    Ablation("Logic-LNCL-student", "logic-lncl", "logic-lncl", "student", (78.85, 91.82, 62.69, 79.14, 78.13)),
    Ablation("Logic-LNCL-teacher", "logic-lncl", "logic-lncl", "teacher", (79.22, 91.82, 64.06, 79.14, 78.56)),
)

T_VALUES = {("student", "prediction"): 3.0, ("teacher", "prediction"): 5.7, ("student", "inference"): 10.4}
"""The paper's t of Logic-LNCL against AggNet on sentiment; every p is below 0.01."""

SAMPLES: dict[str, tuple[int, ...]] = {
    SENTIMENT: (2000, 3300, 4300), NER: (2500, 4900, 5700), "quick-sentiment": (150,), "quick-ner": (100,)
}  # fmt: skip
"""Fewer training items: a point for the curve, and the two sizes that the paper names."""

SIZES = {SENTIMENT: 4999, NER: 5985, "quick-sentiment": 300, "quick-ner": 200}
"""All of the training items."""

SAMPLE_INFERENCE = {SENTIMENT: {4300: 91.78, 3300: 91.72}, NER: {5700: 78.92, 4900: 78.58}}
"""What the paper infers with the named sizes."""

STRENGTHS, IMITATIONS, SLOWER = (1.0, 2.0, 10.0, 20.0), (0.2, 0.5, 0.8), "1 - 0.98^t"
"""C, a constant k and one that grows more slowly, beside those of Table 2."""


def kind_of(task: str) -> str:
    """Which of the paper's tasks a task is: `quick-ner` is NER."""
    return NER if NER in task.split("-") else SENTIMENT


def table_rows(task: str) -> tuple[str, ...]:
    """Every row that Tables 3 to 5 need on a task, each once."""
    kind = kind_of(task)
    lines = [row for line in TABLES[kind] for row in (line.row, line.inference)]
    place = 0 if kind == SENTIMENT else 1
    for line in TABLE_5:
        lines += [(line.sentiment, line.ner)[place], line.inference[place]]
    return tuple(dict.fromkeys(row for row in lines if row is not None))


def sample_rows(task: str) -> tuple[str, ...]:
    """The rows of the study of sample efficiency, the full size aside."""
    return tuple(f"{row}, {size} samples" for size in SAMPLES[task] for row in ("logic-lncl", "aggnet"))


def sensitivity_rows() -> tuple[str, ...]:
    """The rows that vary C and k, those of Table 2 aside."""
    return (*(f"logic-lncl, C {c:g}" for c in STRENGTHS), *(f"logic-lncl, k {k}" for k in (*IMITATIONS, SLOWER)))
