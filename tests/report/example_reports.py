"""Reports made up for the page: every part is there, names and texts are as hostile as data can be."""

from __future__ import annotations

import numpy as np

from crowdlogic.confidence.annotator_verdicts import FlagKind
from crowdlogic.data.evidence import EvidenceSource, EvidenceTerm, UnitEvidence
from crowdlogic.reporting.findings import CalibrationBin, Histogram, Quantity, ReportFinding, Summary, TaskKind, Urgency
from crowdlogic.reporting.pages.annotators import (
    AnnotatorFindings,
    AnnotatorRow,
    ConfusedClasses,
    Drift,
    Flag,
    PairAgreement,
    SpanMistakes,
    TimeBin,
)
from crowdlogic.reporting.pages.comparison import ComparisonFindings, MethodRow
from crowdlogic.reporting.pages.labels import (
    Belief,
    LabelFindings,
    Reading,
    ShownItem,
    Span,
    TaggedSentence,
    Threshold,
    Vote,
)
from crowdlogic.reporting.pages.overview import (
    ClassShare,
    Coefficient,
    OverviewFindings,
    Score,
    Setting,
)
from crowdlogic.reporting.pages.rules import Flip, RuleFindings, RuleRow
from crowdlogic.reporting.pages.training import EpochRow, StudentTeacher, TrainingFindings, ViewScore
from crowdlogic.reporting.report import Report

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


def finding(text: str, page: str, severity: Urgency = Urgency.look, about: str | None = None) -> ReportFinding:
    return ReportFinding(text, severity, importance=1, about=about, page=page)


def overview(items: int, annotators: int, task: TaskKind, classes: tuple[str, ...], gold: bool) -> OverviewFindings:
    shares = tuple(
        ClassShare(
            name=name,
            votes=3 * items // len(classes),
            vote_share=1 / len(classes),
            answers=items // len(classes),
            posterior_share=1 / len(classes),
            gold_share=0.3 if gold else None,
        )
        for name in classes
    )
    return OverviewFindings(
        task=task,
        n_items=items,
        n_units=items if task is TaskKind.documents else 14 * items,
        n_annotators=annotators,
        n_labels=3 * items,
        n_unlabelled=2,
        n_single=1,
        labels_per_item=Histogram((1, 2, 3, 4, 5), (10, 40, 900, 50)),
        mean_labels_per_item=3.0,
        classes=shares,
        n_classes=len(classes),
        agreement=(
            Coefficient(
                name="observed",
                title="observed agreement",
                figure=Quantity(0.71, low=0.68, high=0.74),
                level=0.95,
                reason=None,
            ),
            Coefficient(
                name="alpha",
                title="Krippendorff's alpha",
                figure=Quantity(0.44, low=0.40, high=0.48),
                level=0.95,
                reason=None,
            ),
            Coefficient(
                name="cohen",
                title="Cohen's kappa",
                figure=Quantity(None),
                level=0.95,
                reason="it needs exactly two annotators",
            ),
        ),
        intake=("2 rows without a label were dropped.", hostile(0)),
        method="dawid-skene",
        settings=(Setting(name="smoothing", value="0.01"), Setting(name="seed", value="0")),
        converged=True,
        iterations=23,
        iteration_name="iteration",
        scores=(Score(name="accuracy", figure=Quantity(0.913, low=0.90, high=0.925), majority=0.887, n=items),)
        if gold
        else (),
        n_gold=items if gold else 0,
        calibration=(
            CalibrationBin(low=0.5, high=0.6, n=60, confidence=0.55, accuracy=0.52),
            CalibrationBin(low=0.6, high=0.9, n=200, confidence=0.8, accuracy=0.7),
            CalibrationBin(low=0.9, high=1, n=740, confidence=0.98, accuracy=0.96),
        )
        if gold
        else (),
        calibration_error=0.031 if gold else None,
        findings=(finding("The crowd agrees moderately: Krippendorff's alpha is 0.44.", "overview"),),
    )


def evidence(token: int | None, answer: str, rival: str) -> UnitEvidence:
    terms = (
        EvidenceTerm(source=EvidenceSource.classifier, bits=1.2),
        EvidenceTerm(source=EvidenceSource.annotator, name="w7", said=rival, bits=-2.4),
        EvidenceTerm(source=EvidenceSource.annotator, name=hostile(0), said=answer, bits=2.0),
        EvidenceTerm(source=EvidenceSource.rule, name="Label(S, C) & After(S, 'but', B) -> Predicted(B, C)", bits=0.7),
        EvidenceTerm(source=EvidenceSource.rest, bits=-0.4),
    )
    return UnitEvidence(token=token, answer=answer, rival=rival, terms=terms, bits=1.1)


def document(place: int, rng: np.random.Generator, text: str | None = None) -> ShownItem:
    sure = float(0.34 + 0.6 * rng.random())
    answer, rival = CLASSES[place % 3], CLASSES[(place + 1) % 3]
    votes = (
        Vote(annotator="w7", label=rival, weight=1.0, reliability=0.61),
        Vote(annotator="w8", label=answer, weight=1.0, reliability=0.93),
        Vote(annotator=f"w{place % 40}", label=answer, weight=1.0, reliability=None),
    )
    return ShownItem(
        name=f"review_{place}",
        text=text or f"The film number{place} is long, but it rewards patience. {hostile(place)}",
        is_cut=False,
        answer=answer,
        confidence=sure,
        expected_wrong=1 - sure,
        beliefs=(
            Belief(name=answer, share=sure),
            Belief(name=rival, share=(1 - sure) * 0.8),
            Belief(name=CLASSES[(place + 2) % 3], share=(1 - sure) * 0.2),
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
    org, misc, per = (
        Span(start=0, end=1, kind="ORG"),
        Span(start=2, end=3, kind="MISC"),
        Span(start=6, end=8, kind="PER"),
    )
    readings = (
        Reading(annotator="w1", spans=(org, misc), reliability=0.9),
        Reading(annotator="w2", spans=(Span(start=0, end=2, kind="LOC"),), reliability=0.5),
        Reading(annotator="w3", spans=(org, misc, per), reliability=None),
    )
    shown = TaggedSentence(
        tokens=tokens,
        n_tokens=9,
        confidence=(0.99, 0.8, 0.5, 1.0, 1.0, 1.0, 0.6, 0.6, None),
        consensus=(org, misc),
        readings=readings,
        n_readings=3,
        gold=(org, misc),
    )
    return ShownItem(
        name=f"sentence_{place}",
        text="",
        is_cut=False,
        answer=None,
        confidence=0.5,
        expected_wrong=1.7,
        beliefs=(Belief(name="B-MISC", share=0.5), Belief(name="O", share=0.4), Belief(name="B-LOC", share=0.1)),
        token=2,
        votes=(
            Vote(annotator="w1", label="B-MISC", weight=1.0, reliability=0.9),
            Vote(annotator="w2", label="O", weight=1.0, reliability=0.5),
            Vote(annotator="w3", label="B-MISC", weight=1.0, reliability=None),
        ),
        n_votes=3,
        gold="B-MISC",
        sentence=shown,
        evidence=evidence(2, "B-MISC", "O"),
    )


def labels(shown: tuple[ShownItem, ...], items: int, mistakes: tuple[ShownItem, ...] = ()) -> LabelFindings:
    edges = tuple(n / 20 for n in range(21))
    counts = tuple(0 if n < 7 else items * (n - 6) ** 2 // 1015 for n in range(20))
    steps = tuple(
        Threshold(confidence=t, n_below=int(items * t / 5), expected_wrong=items * t / 20, share_found=min(1.0, t))
        for t in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
    )
    return LabelFindings(
        n_answered=items,
        n_unanswered=2,
        n_tied=3,
        expected_wrong=items * 0.06,
        expected_wrong_share=0.06,
        confidence=Histogram(edges, counts),
        check_below=None,
        thresholds=steps,
        doubts=shown,
        n_doubts=items // 2,
        gold_mistakes=mistakes,
        n_gold_mistakes=len(mistakes),
        sure=0.95,
        text_length=2000,
        findings=(
            finding("Checking the 200 least sure answers would find half of the mistakes.", "labels", Urgency.act),
        ),
    )


def annotator(place: int, classes: tuple[str, ...], rng: np.random.Generator, spans: bool) -> AnnotatorRow:
    flags = {
        0: (Flag(kind=FlagKind.adversary, reason="Is right 21% of the time, worse than chance."),),
        1: (
            Flag(kind=FlagKind.spammer, reason=f"Says the same whatever the truth. {hostile(0)}"),
            Flag(kind=FlagKind.drift, reason="Falls from 90% to 60%."),
        ),
        2: (Flag(kind=FlagKind.few, reason="Gave only 4 labels."),),
    }.get(place, ())
    right = 0.3 if place == 0 else float(0.6 + 0.38 * rng.random())
    n = int(10 ** (1 + 2.4 * rng.random()))
    off = (1 - right) / max(len(classes) - 1, 1)
    matrix = tuple(
        tuple(n / len(classes) * (right if m == k else off) for k in range(len(classes))) for m in range(len(classes))
    )
    half = 1 / np.sqrt(n)
    bins = tuple(
        TimeBin(
            begin=1e9 + b,
            end=1e9 + b + 1,
            n=n // 5,
            reliability=Quantity(right - 0.04 * b, low=right - 0.04 * b - 0.1, high=right),
        )
        for b in range(5)
    )
    return AnnotatorRow(
        name=hostile(place) if place % 9 == 4 else f"w{place}" if place < 10 else f"annotator_{place}",
        kind="human" if place % 3 else "llm",
        n_labels=n,
        n_items=n,
        reliability=Quantity(right, low=max(right - half, 0.0), high=min(right + half, 1.0)),
        token_reliability=None,
        expected_accuracy=right,
        gold_accuracy=Quantity(right - 0.02 if place % 2 else None),
        n_gold=n,
        skill=Quantity(2 * right - 1, low=2 * right - 1.2, high=2 * right - 0.9),
        informativeness=right**2,
        confusions=(ConfusedClasses(truth=classes[0], label=classes[-1], count=4.2, share=0.2),),
        matrix=matrix,
        favourite=classes[0],
        favourite_share=0.4,
        weight=None,
        flags=flags,
        drift=Drift(bins=bins, change=-0.2, p_value=0.001, falls=place == 1) if place < 8 else None,
        mistakes=SpanMistakes(
            n_sequences=40,
            n_true=50,
            n_marked=48,
            correct=30,
            boundary=8,
            wrong_type=4,
            ignored=8,
            spurious=6,
            precision=0.6,
            recall=0.6,
            f1=0.6,
        )
        if spans
        else None,
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
        pairs=PairAgreement(names=names, shared=shared, agreement=square, kappa=square, n_annotators=n),
        against_gold=True,
        has_times=True,
        by_others=False,
        findings=tuple(
            finding(f"w{j} answers the same whatever the truth.", "annotators", Urgency.act, f"w{j}") for j in range(8)
        ),
    )


def rules() -> RuleFindings:
    flips = tuple(
        Flip(
            item=f"review_{n}",
            text=f"Slow, but grand. {hostile(n)}",
            token=None,
            before="negative",
            after="positive",
            gold="positive",
            rule="r",
            bits=2.5,
        )
        for n in range(3)
    )
    row = RuleRow(
        rule="1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)",
        place="contrast.rules:2",
        groundings=400,
        n_units=200,
        coverage=0.2,
        cases=180,
        satisfaction=Quantity(0.9, low=0.85, high=0.93),
        chance=0.5,
        weight=1.0,
        new_weight=1.0,
        pushed=3,
        pushed_right=3,
        pushed_wrong=0,
        verdict="helps",
        reason="Keep it: it holds in 90% of its 180 applications.",
        examples=flips,
    )
    bad = RuleRow(
        rule=f"1.0: Label(S, '{hostile(0)}') -> Label(S, 'negative')",
        place="contrast.rules:3",
        groundings=10,
        n_units=10,
        coverage=0.01,
        cases=9,
        satisfaction=Quantity(0.2, low=0.1, high=0.4),
        chance=0.5,
        weight=1.0,
        new_weight=0.0,
        pushed=0,
        pushed_right=0,
        pushed_wrong=0,
        verdict="contradicts the labels",
        reason="Drop it: the crowd denies it.",
        examples=(),
    )
    return RuleFindings(
        rows=(bad, row),
        n_rules=2,
        n_units=1000,
        flips=flips,
        n_flips=3,
        flips_right=2,
        flips_wrong=1,
        n_resisted=2,
        findings=(finding("Drop rule 1.", "rules", Urgency.act),),
    )


def training() -> TrainingFindings:
    epochs = tuple(
        EpochRow(
            epoch=e,
            loss=0.7 / e,
            k=1 - 0.94**e,
            stopping=0.7 + 0.02 * e - 0.0015 * e * e,
            change=0.1 / e,
            objective=-0.6 + 0.01 * e,
            seconds=0.2,
            scores=(0.68 + 0.01 * e,),
        )
        for e in range(1, 13)
    )
    views = (
        ViewScore(name="classifier", title="the classifier", score=0.78),
        ViewScore(name="crowd", title="with the crowd", score=0.91),
        ViewScore(name="answer", title="the answer", score=0.92),
    )
    return TrainingFindings(
        epochs=epochs,
        chosen=7,
        stopping_name="dev accuracy",
        stops_by_score=True,
        has_rules=True,
        stopped="It stopped after 12 epochs: 5 without a better score.",
        score_names=("test accuracy",),
        score_titles=("test accuracy",),
        score_name="accuracy",
        seconds=2.4,
        views=views,
        watched=(
            StudentTeacher(name="test", student=0.78, teacher=0.80),
            StudentTeacher(name="dev", student=0.77, teacher=None),
        ),
        findings=(),
    )


def comparison() -> ComparisonFindings:
    methods = (
        MethodRow(name="dawid-skene", scores=(0.91,), seconds=0.2, iterations=20, converged=True, mean_agreement=0.95),
        MethodRow(name="majority", scores=(0.88,), seconds=0.01, iterations=1, converged=True, mean_agreement=0.94),
    )
    return ComparisonFindings(
        methods=methods,
        score_names=("accuracy",),
        agreement=((1.0, 0.94), (0.94, 1.0)),
        n_disputed=60,
        findings=(finding("They differ on 60.", "comparison", Urgency.know),),
    )


def summary(last_page: str = "rules") -> Summary:
    return Summary(
        (
            finding(
                "w0 is wrong more often than chance: leave their labels out, or turn them round.",
                "annotators",
                Urgency.act,
                "w0",
            ),
            finding(f"Hostile words do nothing: {' '.join(HOSTILE)}", "labels", Urgency.look, "review_3"),
            finding("The rule helps: keep it.", last_page, Urgency.know),
        ),
        (("labels", 1), ("annotators", 3)),
    )


def documents(*, items: int = 1000, shown: int = 60, people: int = 40, texts: tuple[str, ...] = ()) -> Report:
    """A report with every page, of documents."""
    rng = np.random.default_rng(0)
    doubts = tuple(document(place, rng, texts[place % len(texts)] if texts else None) for place in range(shown))
    return Report(
        title=f"demo {hostile(0)}",
        subject=f"dawid-skene on labels {hostile(1)}",
        made="2026-11-16T00:00:00+00:00",
        version="0.1.0",
        task=TaskKind.documents,
        classes=CLASSES,
        summary=summary(),
        pages={
            "overview": overview(items, people, TaskKind.documents, CLASSES, True),
            "labels": labels(doubts, items, doubts[:3]),
            "annotators": annotators(people, CLASSES, False),
            "rules": rules(),
            "training": training(),
            "comparison": comparison(),
        },
    )


def tagged() -> Report:
    """A report of span tags: no rules, no run."""
    tags = ("B-LOC", "B-MISC", "B-ORG", "B-PER", "I-LOC", "I-MISC", "I-ORG", "I-PER", "O")
    return Report(
        title="news",
        subject="dawid-skene on labels",
        made="2026-11-16T00:00:00+00:00",
        version="0.1.0",
        task=TaskKind.spans,
        classes=tags,
        summary=summary("overview"),
        pages={
            "overview": overview(500, 20, TaskKind.spans, tags, False),
            "labels": labels(tuple(sentence(n) for n in range(12)), 500),
            "annotators": annotators(20, tags, True),
        },
    )
