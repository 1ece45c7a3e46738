"""Scores in the tables of the paper, and the corresponding rows of our experiments.

[LNCL] "Learning from Noisy Crowd Labels with Logics", Tables 3, 4 and 5; means over 50 runs (sentiment) and 30 (NER).
All scores here are the paper's; ours are always read from the files of finished runs.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

SENTIMENT, NER = "sentiment", "ner"

TWO, ONE, TRUTH, BOUND, BEYOND = "two-stage", "one-stage", "truth inference", "upper bound", "beyond the paper"
"""Paradigms of methods in the paper, and one for methods beyond the paper."""


@dataclass(frozen=True)
class MethodLine:
    """Line of Table 3 or 4.

    Attributes:
        paradigm: The paradigm.
        name: The paper's name of the method.
        row: Our row.
        part: Reported prediction: the student's or the teacher's; None without prediction.
        inference_row: Row whose inference is reported; None for the row's own.
        prediction: The paper's prediction scores: accuracy, or precision, recall and F1.
        inference: The paper's inference scores, in the same format.
        quoted: Whether the paper quotes the scores from another paper.
    """

    paradigm: str
    name: str
    row: str
    part: str | None
    _: KW_ONLY
    inference_row: str | None = None
    prediction: tuple[float, ...] = ()
    inference: tuple[float, ...] = ()
    quoted: bool = False


@dataclass(frozen=True)
class AblationLine:
    """Line of Table 5.

    Attributes:
        name: The paper's name of the method.
        sentiment: Our row on the sentiment task.
        ner: Our row on the NER task.
        part: Reported prediction: the student's or the teacher's.
        paper: The paper's prediction and inference on sentiment, the same on NER, and their average.
        inference_rows: The rows whose inference is reported on sentiment and on NER; None for the rows themselves.
    """

    name: str
    sentiment: str
    ner: str
    _: KW_ONLY
    part: str
    paper: tuple[float, float, float, float, float]
    inference_rows: tuple[str | None, str | None] = (None, None)


VOTE, CONLL_VOTE = "truth majority", "truth majority, paper's ties"

TABLE_3 = (
    MethodLine(
        TWO, "MV-Classifier", "majority", "student", inference_row=VOTE, prediction=(78.08,), inference=(88.58,)
    ),
    MethodLine(TWO, "GLAD-Classifier", "glad", "student", prediction=(78.45,), inference=(91.76,)),
    MethodLine(ONE, "Raykar", "raykar", "student", inference=(91.48,)),
    MethodLine(ONE, "AggNet", "aggnet", "student", prediction=(78.47,), inference=(91.63,)),
    MethodLine(ONE, "CL (VW)", "cl vw", "student", prediction=(78.22,), inference=(88.00,)),
    MethodLine(ONE, "CL (VW-B)", "cl vw-b", "student", prediction=(78.04,), inference=(87.51,)),
    MethodLine(ONE, "CL (MW)", "cl mw", "student", prediction=(78.28,), inference=(88.30,)),
    MethodLine(ONE, "Logic-LNCL-student", "logic-lncl", "student", prediction=(78.85,), inference=(91.82,)),
    MethodLine(ONE, "Logic-LNCL-teacher", "logic-lncl", "teacher", prediction=(79.22,), inference=(91.82,)),
    MethodLine(TRUTH, "MV", VOTE, None, inference=(88.58,)),
    MethodLine(TRUTH, "DS", "truth dawid-skene", None, inference=(91.48,)),
    MethodLine(TRUTH, "GLAD", "truth glad", None, inference=(91.76,)),
    MethodLine(TRUTH, "PM", "truth pm", None, inference=(89.66,)),
    MethodLine(TRUTH, "CATD", "truth catd", None, inference=(91.49,)),
    MethodLine(BOUND, "Gold", "gold", "student", prediction=(79.26,), inference=(100.0,)),
)

TABLE_4 = (
    MethodLine(
        TWO, "MV-Classifier", "majority", "student", prediction=(65.14, 45.98, 53.89), inference=(79.12, 58.50, 67.27)
    ),
    MethodLine(ONE, "AggNet", "aggnet", "student", prediction=(61.67, 58.64, 60.09), inference=(77.19, 73.02, 75.04)),
    MethodLine(
        ONE, "CL (VW, 5)", "cl vw", "student", prediction=(69.37, 52.11, 59.32), inference=(79.19, 71.72, 75.25)
    ),
    MethodLine(
        ONE, "CL (VW-B, 5)", "cl vw-b", "student", prediction=(58.23, 59.92, 58.97), inference=(75.27, 73.41, 74.30)
    ),
    MethodLine(
        ONE, "CL (MW, 5)", "cl mw", "student", prediction=(62.98, 61.57, 62.19), inference=(78.37, 75.14, 76.70)
    ),
    MethodLine(
        ONE, "CL (MW, 1)", "cl mw 1", "student", prediction=(53.75, 44.70, 48.19), inference=(61.93, 50.21, 54.42)
    ),
    MethodLine(
        ONE,
        "Logic-LNCL-student",
        "logic-lncl",
        "student",
        prediction=(66.53, 59.29, 62.69),
        inference=(84.90, 74.11, 79.14),
    ),
    MethodLine(
        ONE,
        "Logic-LNCL-teacher",
        "logic-lncl",
        "teacher",
        prediction=(70.10, 58.99, 64.06),
        inference=(84.90, 74.11, 79.14),
    ),
    MethodLine(
        ONE, "CRF-MA", "crf-ma", "student", prediction=(49.4, 85.6, 62.6), inference=(86.0, 65.6, 74.4), quoted=True
    ),
    MethodLine(ONE, "DL-DN", "dl-dn", "student", prediction=(72.3, 45.9, 56.2), quoted=True),
    MethodLine(ONE, "DL-WDN", "dl-wdn", "student", prediction=(61.1, 48.0, 53.4), quoted=True),
    MethodLine(TRUTH, "MV", CONLL_VOTE, None, inference=(79.12, 58.50, 67.27)),
    MethodLine(TRUTH, "DS", "truth dawid-skene", None, inference=(79.0, 70.4, 74.4), quoted=True),
    MethodLine(TRUTH, "IBCC", "truth ibcc", None, inference=(79.0, 70.4, 74.4), quoted=True),
    MethodLine(TRUTH, "BSC-seq", "truth bsc-seq", None, inference=(80.3, 74.8, 77.4), quoted=True),
    MethodLine(TRUTH, "HMM-Crowd", "truth hmm-crowd", None, inference=(77.40, 72.29, 74.76), quoted=True),
    MethodLine(BOUND, "Gold", "gold", "student", prediction=(72.52, 73.51, 72.98), inference=(100.0, 100.0, 100.0)),
)

TABLES = {SENTIMENT: TABLE_3, NER: TABLE_4}

BEYOND_NER = (
    MethodLine(BEYOND, "AggNet, BiLSTM-CRF", "aggnet-bilstm-crf", "student"),
    MethodLine(BEYOND, "Logic-LNCL-student, BiLSTM-CRF", "logic-lncl-bilstm-crf", "student"),
    MethodLine(BEYOND, "Logic-LNCL-teacher, BiLSTM-CRF", "logic-lncl-bilstm-crf", "teacher"),
    MethodLine(BEYOND, "Gold, BiLSTM-CRF", "gold-bilstm-crf", "student"),
)
"""Lines beyond the paper, with a BiLSTM-CRF instead of the CNN-GRU."""

BEYOND_TABLES: dict[str, tuple[MethodLine, ...]] = {SENTIMENT: (), NER: BEYOND_NER}

TABLE_5 = (
    AblationLine(
        "MV-Rule", "majority rule", "majority rule", part="student", paper=(78.41, 88.96, 47.66, 61.63, 69.17)
    ),
    AblationLine(
        "GLAD-Rule (AggNet-Rule)", "glad rule", "aggnet rule", part="student", paper=(78.62, 91.74, 61.65, 77.52, 77.38)
    ),
    AblationLine("w/o-Rule", "aggnet", "without rules", part="student", paper=(78.47, 91.63, 60.11, 75.28, 76.37)),
    AblationLine(
        "MV-t",
        "majority",
        "majority",
        part="teacher",
        paper=(78.83, 88.58, 46.77, 67.27, 70.36),
        inference_rows=(VOTE, None),
    ),
    AblationLine(
        "our-other-rules-student",
        "other rules",
        "other rules",
        part="student",
        paper=(78.79, 91.72, 50.71, 75.07, 74.07),
    ),
    AblationLine(
        "our-other-rules-teacher",
        "other rules",
        "other rules",
        part="teacher",
        paper=(78.79, 91.72, 1.23, 75.07, 61.70),
    ),
    AblationLine(
        "Logic-LNCL-student", "logic-lncl", "logic-lncl", part="student", paper=(78.85, 91.82, 62.69, 79.14, 78.13)
    ),
    AblationLine(
        "Logic-LNCL-teacher", "logic-lncl", "logic-lncl", part="teacher", paper=(79.22, 91.82, 64.06, 79.14, 78.56)
    ),
)

T_VALUES = {("student", "prediction"): 3.0, ("teacher", "prediction"): 5.7, ("student", "inference"): 10.4}
"""The paper's t of Logic-LNCL against AggNet on sentiment; every p is below 0.01."""

SAMPLES: dict[str, tuple[int, ...]] = {
    SENTIMENT: (2000, 3300, 4300), NER: (2500, 4900, 5700), "quick-sentiment": (150,), "quick-ner": (100,)
}  # fmt: skip
"""Numbers of training items in the study of sample efficiency; the paper reports the last two."""

SIZES = {SENTIMENT: 4999, NER: 5985, "quick-sentiment": 300, "quick-ner": 200}
"""Total number of training items."""

SAMPLE_INFERENCE = {SENTIMENT: {4300: 91.78, 3300: 91.72}, NER: {5700: 78.92, 4900: 78.58}}
"""The paper's inference scores for the sizes that it reports."""

STRENGTHS, IMITATIONS, SLOWER = (1.0, 2.0, 10.0, 20.0), (0.2, 0.5, 0.8), "1 - 0.98^t"
"""Other values of C and of constant k, and a slower k(t), for comparison with those of Table 2."""


QUICK = "quick-"
"""Prefix of the simulated tasks."""


def is_simulated(task: str) -> bool:
    """Return whether a task uses simulated data, whose scores cannot be compared with the paper's."""
    return task.startswith(QUICK)


def paper_task(task: str) -> str:
    """Return the task of the paper that a task reproduces, such as NER for `quick-ner`."""
    return NER if NER in task.split("-") else SENTIMENT


def table_rows(task: str) -> tuple[str, ...]:
    """Return all distinct rows of Tables 3 to 5 for a task."""
    paper = paper_task(task)
    lines = [row for line in TABLES[paper] for row in (line.row, line.inference_row)]
    place = 0 if paper == SENTIMENT else 1
    for line in TABLE_5:
        lines += [(line.sentiment, line.ner)[place], line.inference_rows[place]]
    return tuple(dict.fromkeys(row for row in lines if row is not None))


def beyond_rows(task: str) -> tuple[str, ...]:
    """Return the rows beyond the paper."""
    return tuple(dict.fromkeys(line.row for line in BEYOND_TABLES[paper_task(task)]))


def sample_rows(task: str) -> tuple[str, ...]:
    """Return the rows of the study of sample efficiency, except those with all training items."""
    return tuple(f"{row}, {size} samples" for size in SAMPLES[task] for row in ("logic-lncl", "aggnet"))


def sensitivity_rows() -> tuple[str, ...]:
    """Return the rows of the study of C and k, except those of Table 2."""
    return (*(f"logic-lncl, C {c:g}" for c in STRENGTHS), *(f"logic-lncl, k {k}" for k in (*IMITATIONS, SLOWER)))
