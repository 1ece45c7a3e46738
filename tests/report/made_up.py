"""Reports made up for the page: every part is there, names and texts are as hostile as data can be."""

from __future__ import annotations

import numpy as np

from crowdlogic.report.findings import (
    AnnotatorFindings,
    AnnotatorRow,
    Belief,
    CalibrationBin,
    ClassShare,
    Coefficient,
    ComparisonFindings,
    Confused,
    Drift,
    EpochRow,
    Evidence,
    Figure,
    Finding,
    Flag,
    FlagKind,
    Flip,
    Histogram,
    LabelFindings,
    MethodRow,
    Overview,
    Page,
    PairAgreement,
    Reading,
    Report,
    RuleFindings,
    RuleRow,
    Score,
    Setting,
    Severity,
    ShownItem,
    Source,
    Span,
    SpanMistakes,
    StudentTeacher,
    Summary,
    TaggedSentence,
    Task,
    Term,
    Threshold,
    TimeBin,
    TrainingFindings,
    ViewScore,
    Vote,
)

HOSTILE = (
    "<script>window.pwned=1</script>",
    "</script><script>window.pwned=2</script>",
    '<img src=x onerror="window.pwned=3">',
    "<!--<script>window.pwned=4</script>",
    "\u202egnp.exe \u2066\u2028\u2029\x00\x1b[31m",
    "'\"><svg onload=window.pwned=5>",
    "{{ 7 * 7 }} {% raw %} ${window.pwned=6}",
    "javascript:window.pwned=7",
    "https://example.org/beacon.png",
    '=HYPERLINK("https://example.org")',
)

CLASSES = ("negative", "neutral", "positive")


def hostile(place: int) -> str:
    return HOSTILE[place % len(HOSTILE)]


def finding(text: str, page: Page, severity: Severity = Severity.look, about: str | None = None) -> Finding:
    return Finding(text, severity, page, about)


def overview(items: int, annotators: int, task: Task, classes: tuple[str, ...], gold: bool) -> Overview:
    shares = tuple(
        ClassShare(
            name,
            3 * items // len(classes),
            1 / len(classes),
            items // len(classes),
            1 / len(classes),
            0.3 if gold else None,
        )
        for name in classes
    )
    return Overview(
        task=task,
        n_items=items,
        n_units=items if task is Task.documents else 14 * items,
        n_annotators=annotators,
        n_labels=3 * items,
        n_unlabelled=2,
        n_single=1,
        labels_per_item=Histogram((1, 2, 3, 4, 5), (10, 40, 900, 50)),
        mean_labels_per_item=3.0,
        classes=shares,
        n_classes=len(classes),
        agreement=(
            Coefficient("observed", "observed agreement", Figure(0.71, 0.68, 0.74), 0.95, None),
            Coefficient("alpha", "Krippendorff's alpha", Figure(0.44, 0.40, 0.48), 0.95, None),
            Coefficient("cohen", "Cohen's kappa", Figure(None), 0.95, "it needs exactly two annotators"),
        ),
        intake=("2 rows without a label were dropped.", hostile(0)),
        method="dawid-skene",
        settings=(Setting("smoothing", "0.01"), Setting("seed", "0")),
        converged=True,
        iterations=23,
        scores=(Score("accuracy", Figure(0.913, 0.90, 0.925), 0.887, items),) if gold else (),
        n_gold=items if gold else 0,
        calibration=(
            CalibrationBin(0.5, 0.6, 60, 0.55, 0.52),
            CalibrationBin(0.6, 0.9, 200, 0.8, 0.7),
            CalibrationBin(0.9, 1, 740, 0.98, 0.96),
        )
        if gold
        else (),
        calibration_error=0.031 if gold else None,
        findings=(finding("The crowd agrees moderately: alpha is 0.44.", Page.overview),),
    )


def evidence(token: int | None, answer: str, rival: str) -> Evidence:
    crowd = (
        Term(Source.classifier, "", None, 1.2),
        Term(Source.annotator, "w7", rival, -2.4),
        Term(Source.annotator, hostile(0), answer, 2.0),
    )
    rules = (Term(Source.rule, "Label(S, C) & After(S, 'but', B) -> Predicted(B, C)", None, 0.7),)
    return Evidence(token, answer, rival, crowd, 0.8, rules, False, 1.5, 0.5, 1.1, True)


def document(place: int, rng: np.random.Generator, text: str | None = None) -> ShownItem:
    sure = float(0.34 + 0.6 * rng.random())
    answer, rival = CLASSES[place % 3], CLASSES[(place + 1) % 3]
    votes = (Vote("w7", rival, 1.0, 0.61), Vote("w8", answer, 1.0, 0.93), Vote(f"w{place % 40}", answer, 1.0, None))
    return ShownItem(
        name=f"review_{place}",
        text=text or f"The film number{place} is long, but it rewards patience. {hostile(place)}",
        is_cut=False,
        answer=answer,
        confidence=sure,
        expected_wrong=1 - sure,
        beliefs=(
            Belief(answer, sure),
            Belief(rival, (1 - sure) * 0.8),
            Belief(CLASSES[(place + 2) % 3], (1 - sure) * 0.2),
        ),
        token=None,
        votes=votes,
        n_votes=3,
        gold=None,
        sentence=None,
        evidence=evidence(None, answer, rival),
    )


def sentence(place: int) -> ShownItem:
    tokens = ("EU", "rejects", "German", "call", "to", "boycott", hostile(place), "lamb", ".")
    org, misc, per = Span(0, 1, "ORG"), Span(2, 3, "MISC"), Span(6, 8, "PER")
    readings = (
        Reading("w1", (org, misc), 0.9),
        Reading("w2", (Span(0, 2, "LOC"),), 0.5),
        Reading("w3", (org, misc, per), None),
    )
    shown = TaggedSentence(
        tokens, 9, (0.99, 0.8, 0.5, 1.0, 1.0, 1.0, 0.6, 0.6, None), (org, misc), readings, 3, (org, misc)
    )
    return ShownItem(
        f"sentence_{place}",
        "",
        False,
        None,
        0.5,
        1.7,
        (Belief("B-MISC", 0.5), Belief("O", 0.4), Belief("B-LOC", 0.1)),
        2,
        (Vote("w1", "B-MISC", 1.0, 0.9), Vote("w2", "O", 1.0, 0.5), Vote("w3", "B-MISC", 1.0, None)),
        3,
        "B-MISC",
        shown,
        evidence(2, "B-MISC", "O"),
    )


def labels(shown: tuple[ShownItem, ...], items: int, mistakes: tuple[ShownItem, ...] = ()) -> LabelFindings:
    edges = tuple(n / 20 for n in range(21))
    counts = tuple(0 if n < 7 else items * (n - 6) ** 2 // 1015 for n in range(20))
    steps = tuple(
        Threshold(t, int(items * t / 5), items * t / 20, min(1.0, t)) for t in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
    )
    return LabelFindings(
        n_answered=items,
        n_unanswered=2,
        n_tied=3,
        expected_wrong=items * 0.06,
        expected_wrong_share=0.06,
        confidence=Histogram(edges, counts),
        thresholds=steps,
        doubts=shown,
        n_doubts=items // 2,
        gold_mistakes=mistakes,
        n_gold_mistakes=len(mistakes),
        sure=0.95,
        text_length=2000,
        findings=(
            finding("Checking the 200 least sure answers would find half of the mistakes.", Page.labels, Severity.act),
        ),
    )


def annotator(place: int, classes: tuple[str, ...], rng: np.random.Generator, spans: bool) -> AnnotatorRow:
    flags = {
        0: (Flag(FlagKind.adversary, "Is right 21% of the time, worse than chance."),),
        1: (
            Flag(FlagKind.spammer, f"Says the same whatever the truth. {hostile(0)}"),
            Flag(FlagKind.drift, "Falls from 90% to 60%."),
        ),
        2: (Flag(FlagKind.few, "Gave only 4 labels."),),
    }.get(place, ())
    right = 0.3 if place == 0 else float(0.6 + 0.38 * rng.random())
    n = int(10 ** (1 + 2.4 * rng.random()))
    off = (1 - right) / max(len(classes) - 1, 1)
    matrix = tuple(
        tuple(n / len(classes) * (right if m == k else off) for k in range(len(classes))) for m in range(len(classes))
    )
    half = 1 / np.sqrt(n)
    bins = tuple(
        TimeBin(1e9 + b, 1e9 + b + 1, n // 5, Figure(right - 0.04 * b, right - 0.04 * b - 0.1, right)) for b in range(5)
    )
    return AnnotatorRow(
        name=hostile(place) if place % 9 == 4 else f"w{place}" if place < 10 else f"annotator_{place}",
        kind="human" if place % 3 else "llm",
        n_labels=n,
        n_items=n,
        reliability=Figure(right, max(right - half, 0.0), min(right + half, 1.0)),
        expected_accuracy=right,
        gold_accuracy=Figure(right - 0.02 if place % 2 else None),
        n_gold=n,
        skill=Figure(2 * right - 1, 2 * right - 1.2, 2 * right - 0.9),
        spam_score=right**2,
        confusions=(Confused(classes[0], classes[-1], 4.2, 0.2),),
        matrix=matrix,
        favourite=classes[0],
        favourite_share=0.4,
        weight=None,
        flags=flags,
        drift=Drift(bins, -0.2, 0.001, place == 1) if place < 8 else None,
        mistakes=SpanMistakes(40, 50, 48, 30, 8, 4, 8, 6, 0.6, 0.6, 0.6) if spans else None,
    )


def annotators(n: int, classes: tuple[str, ...], spans: bool) -> AnnotatorFindings:
    rng = np.random.default_rng(1)
    rows = tuple(annotator(place, classes, rng, spans) for place in range(n))
    names = tuple(row.name for row in rows[:12])
    square = tuple(
        tuple(None if (a + b) % 5 == 4 else 1 - abs(a - b) / 20 for b in range(len(names))) for a in range(len(names))
    )
    shared = tuple(tuple(0 if (a + b) % 5 == 4 else 10 + a + b for b in range(len(names))) for a in range(len(names)))
    return AnnotatorFindings(
        rows=rows,
        n_annotators=n,
        n_flagged={"adversary": 1, "spammer": 1},
        classes=classes,
        level=0.95,
        reliability=Histogram(tuple(b / 10 for b in range(11)), (0, 0, 1, 0, 0, 2, 5, 9, 12, 4)),
        chance=0.4,
        pairs=PairAgreement(names, shared, square, square, n),
        against_gold=True,
        has_times=True,
        by_others=False,
        findings=tuple(
            finding(f"w{j} answers the same whatever the truth.", Page.annotators, Severity.act, f"w{j}")
            for j in range(8)
        ),
    )


def rules() -> RuleFindings:
    flips = tuple(
        Flip(
            f"review_{n}",
            f"Slow, but grand. {hostile(n)}",
            None,
            "negative",
            "positive",
            "positive",
            "positive",
            "r",
            2.5,
        )
        for n in range(3)
    )
    row = RuleRow(
        "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)",
        "contrast.rules:2",
        400,
        200,
        0.2,
        180.0,
        Figure(0.9, 0.85, 0.93),
        0.5,
        22.5,
        12,
        9,
        3,
        3,
        3,
        0,
        None,
        "helps",
        "Keep it: it holds in 90% of its 180 applications.",
        flips,
    )
    bad = RuleRow(
        f"1.0: Label(S, '{hostile(0)}') -> Label(S, 'negative')",
        "contrast.rules:3",
        10,
        10,
        0.01,
        9.0,
        Figure(0.2, 0.1, 0.4),
        0.5,
        3.5,
        2,
        None,
        None,
        0,
        0,
        0,
        None,
        "contradicts the crowd",
        "Drop it: the crowd denies it.",
        (),
    )
    return RuleFindings((bad, row), 2, 1000, flips, 3, 2, 1, (finding("Drop rule 1.", Page.rules, Severity.act),))


def training() -> TrainingFindings:
    epochs = tuple(
        EpochRow(
            e, 0.7 / e, 1 - 0.94**e, 0.7 + 0.02 * e - 0.0015 * e * e, 0.1 / e, -0.6 + 0.01 * e, 0.2, (0.68 + 0.01 * e,)
        )
        for e in range(1, 13)
    )
    views = (
        ViewScore("classifier", "the classifier", 0.78),
        ViewScore("crowd", "with the crowd", 0.91),
        ViewScore("answer", "the answer", 0.92),
    )
    return TrainingFindings(
        epochs,
        7,
        "dev accuracy",
        True,
        "It stopped after 12 epochs: 5 without a better score.",
        ("test accuracy",),
        "accuracy",
        2.4,
        views,
        (StudentTeacher("test", 0.78, 0.80), StudentTeacher("dev", 0.77, None)),
        (),
    )


def comparison() -> ComparisonFindings:
    methods = (
        MethodRow("dawid-skene", (0.91,), 0.2, 20, True, 0.95),
        MethodRow("majority", (0.88,), 0.01, 1, True, 0.94),
    )
    return ComparisonFindings(
        methods,
        ("accuracy",),
        ((1.0, 0.94), (0.94, 1.0)),
        60,
        (finding("They differ on 60.", Page.comparison, Severity.know),),
    )


def summary() -> Summary:
    return Summary(
        (
            finding(
                "w0 is wrong more often than chance: leave their labels out, or turn them round.",
                Page.annotators,
                Severity.act,
                "w0",
            ),
            finding(f"Hostile words do nothing: {' '.join(HOSTILE)}", Page.labels, Severity.look, "review_3"),
            finding("The rule helps: keep it.", Page.rules, Severity.know),
        ),
        4,
    )


def documents(*, items: int = 1000, shown: int = 60, people: int = 40, texts: tuple[str, ...] = ()) -> Report:
    """A report with every page, of documents."""
    rng = np.random.default_rng(0)
    doubts = tuple(document(place, rng, texts[place % len(texts)] if texts else None) for place in range(shown))
    return Report(
        title=f"demo {hostile(0)}",
        made="2026-11-16T00:00:00+00:00",
        version="0.1.0",
        classes=CLASSES,
        summary=summary(),
        overview=overview(items, people, Task.documents, CLASSES, True),
        labels=labels(doubts, items, doubts[:3]),
        annotators=annotators(people, CLASSES, False),
        rules=rules(),
        training=training(),
        comparison=comparison(),
    )


def tagged() -> Report:
    """A report of span tags: no rules, no run."""
    tags = ("B-LOC", "B-MISC", "B-ORG", "B-PER", "I-LOC", "I-MISC", "I-ORG", "I-PER", "O")
    return Report(
        title="news",
        made="2026-11-16T00:00:00+00:00",
        version="0.1.0",
        classes=tags,
        summary=summary(),
        overview=overview(500, 20, Task.spans, tags, False),
        labels=labels(tuple(sentence(n) for n in range(12)), 500),
        annotators=annotators(20, tags, True),
    )
