"""Findings: everything that a report says, as plain frozen dataclasses. A page shows them; it computes nothing.

Numbers are Python's own, None where there is none; names of items, annotators and classes are text as it came, however
hostile: whoever shows it escapes it. Long tables are cut, and say of how many. Shares lie in [0, 1].

    Report
    ├── summary      Summary: the headline sentences, most important first
    ├── overview     Overview
    ├── labels       LabelFindings: confidence, the items most in doubt, likely mistakes in the gold
    ├── annotators   AnnotatorFindings: a row each, with flags, drift and span mistakes; pairs
    ├── rules        RuleFindings; None without rules
    ├── training     TrainingFindings; None without a run
    └── comparison   ComparisonFindings; None unless several methods were asked for

Axes: i unit, j annotator, k class, m true class, n given label, l rule.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Task(StrEnum):
    """What carries a label."""

    documents = "documents"
    tags = "tags"
    spans = "spans"


class Severity(StrEnum):
    """What a finding asks of the reader: to act, to look, or only to know."""

    act = "act"
    look = "look"
    know = "know"


class Page(StrEnum):
    """Where a finding is explained."""

    overview = "overview"
    labels = "labels"
    annotators = "annotators"
    rules = "rules"
    training = "training"
    comparison = "comparison"


@dataclass(frozen=True)
class Finding:
    """One finding as a sentence.

    Attributes:
        text: The sentence, plain words, with its figures.
        severity: What it asks of the reader.
        page: Where its figures stand.
        about: The annotator, item, rule or method it speaks of, by name; None when it speaks of all.
    """

    text: str
    severity: Severity
    page: Page
    about: str | None = None


@dataclass(frozen=True)
class Summary:
    """What to know in one minute.

    Attributes:
        findings: At most eight, the most important first; every other one stands on its page.
        n_others: How many findings of severity act or look did not fit in.
    """

    findings: tuple[Finding, ...]
    n_others: int


@dataclass(frozen=True)
class Figure:
    """A number with its interval.

    Attributes:
        value: The number; None where it is undefined.
        low: The lower end of its interval; None where there is none.
        high: The upper end.
    """

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Histogram:
    """Counts in bins: bin b holds what lies in [edges[b], edges[b + 1]); the last one holds its upper edge, too."""

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Setting:
    """An option of the method, as text: dotted name and value."""

    name: str
    value: str


# --- overview ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Coefficient:
    """A coefficient of agreement.

    Attributes:
        name: observed, alpha, fleiss, ac1 or cohen.
        title: The same in words.
        figure: Its value and interval.
        level: The level of the interval, such as 0.95.
        reason: Why it is undefined; None when it is not.
    """

    name: str
    title: str
    figure: Figure
    level: float
    reason: str | None


@dataclass(frozen=True)
class ClassShare:
    """How common a class is.

    Attributes:
        name: The class.
        votes: How many labels name it.
        vote_share: Their share of all labels; None when there are none.
        answers: How many units got it as their answer.
        posterior_share: The mean belief in it over the units that were answered; None when there are none.
        gold_share: Its share of the known gold; None without gold.
    """

    name: str
    votes: int
    vote_share: float | None
    answers: int
    posterior_share: float | None
    gold_share: float | None


@dataclass(frozen=True)
class Score:
    """The answers against gold.

    Attributes:
        name: accuracy, or F1 conll and F1 strict for span tags.
        figure: The score; its interval where it is an accuracy.
        majority: What counting votes would have scored; None where it was not computed.
        n: Units whose gold is known (for F1: gold spans).
    """

    name: str
    figure: Figure
    majority: float | None
    n: int


@dataclass(frozen=True)
class CalibrationBin:
    """Units whose confidence lies in [low, high): how many, how confident on average, and the share that is right."""

    low: float
    high: float
    n: int
    confidence: float | None
    accuracy: float | None


@dataclass(frozen=True)
class Overview:
    """What was labelled, by whom, how far they agree, and what was made of it.

    Attributes:
        task: Documents, tags or spans.
        n_items: Documents or sentences.
        n_units: Documents or tokens.
        n_annotators: Annotators, with labels or without.
        n_labels: Labels.
        n_unlabelled: Items without any label.
        n_single: Items that only one annotator labelled.
        labels_per_item: How many annotators an item has: whole numbers, the last bin may hold all larger ones.
        mean_labels_per_item: The mean of it; None without items.
        classes: A row per class, in the order of the classes; the most common ones when there are too many.
        n_classes: How many classes there are.
        agreement: Every coefficient.
        intake: What reading dropped or noticed, in sentences.
        method: The method's name.
        settings: Its options, and what the run was given.
        converged: Whether it settled.
        iterations: How many iterations it took (epochs for a run).
        scores: Against gold; empty without gold.
        n_gold: Units whose gold is known.
        calibration: Confidence against accuracy; empty without gold.
        calibration_error: The mean gap between both; None without gold.
        findings: The sentences of this page.
    """

    task: Task
    n_items: int
    n_units: int
    n_annotators: int
    n_labels: int
    n_unlabelled: int
    n_single: int
    labels_per_item: Histogram
    mean_labels_per_item: float | None
    classes: tuple[ClassShare, ...]
    n_classes: int
    agreement: tuple[Coefficient, ...]
    intake: tuple[str, ...]
    method: str
    settings: tuple[Setting, ...]
    converged: bool
    iterations: int
    scores: tuple[Score, ...]
    n_gold: int
    calibration: tuple[CalibrationBin, ...]
    calibration_error: float | None
    findings: tuple[Finding, ...]


# --- labels -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Threshold:
    """What checking every answer below a confidence would cost, and find.

    Attributes:
        confidence: The threshold.
        n_below: How many units lie below it.
        expected_wrong: How many of these are expected to be wrong.
        share_found: That share of all expected wrong answers; None when none is expected.
    """

    confidence: float
    n_below: int
    expected_wrong: float
    share_found: float | None


@dataclass(frozen=True)
class Belief:
    """A class and its probability."""

    name: str
    share: float


@dataclass(frozen=True)
class Vote:
    """A label: by whom, what, how much it counts, and how reliable its giver is; reliability None when not known."""

    annotator: str
    label: str
    weight: float
    reliability: float | None


class Source(StrEnum):
    """Where evidence comes from."""

    classifier = "classifier"
    annotator = "annotator"
    rule = "rule"
    transitions = "transitions"
    rest = "rest"


@dataclass(frozen=True)
class Term:
    """What one source says.

    Attributes:
        source: What it is.
        name: The annotator, or the rule as text; empty for the others.
        said: The label given, for an annotator; None for the others.
        bits: Evidence for the answer against its rival: one bit more doubles the odds. None where it is infinite.
    """

    source: Source
    name: str
    said: str | None
    bits: float | None


@dataclass(frozen=True)
class Evidence:
    """Why a unit got its answer, in bits for the answer against its strongest rival.

    Attributes:
        token: Which token of the sentence, from 0; None for documents.
        answer: The answer.
        rival: The class that comes next.
        crowd: The classifier and every label: these add up to crowd_bits exactly.
        crowd_bits: The log2 odds under classifier and crowd (q_a); None where infinite.
        rules: What the rules add where they start: to crowd_bits, or to the classifier's bits.
        from_classifier: Whether the rules start from the classifier alone.
        rules_bits: The log2 odds with the rules (q_b); None without rules, or where infinite.
        k: The weight of the rules' side in the answer.
        bits: The log2 odds of the answer (q_f); None where infinite.
        is_exact: Whether the rules' terms add up by themselves; else each is what is lost without its rule.
    """

    token: int | None
    answer: str
    rival: str
    crowd: tuple[Term, ...]
    crowd_bits: float | None
    rules: tuple[Term, ...]
    from_classifier: bool
    rules_bits: float | None
    k: float
    bits: float | None
    is_exact: bool


@dataclass(frozen=True)
class Span:
    """Tokens start to end (exclusive) of a type; for tags that are no spans, each token's tag is a span of its own."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True)
class Reading:
    """One annotator's spans in a sentence, and how reliable they are; reliability None when not known."""

    annotator: str
    spans: tuple[Span, ...]
    reliability: float | None


@dataclass(frozen=True)
class TaggedSentence:
    """A sentence with everybody's spans.

    Attributes:
        tokens: The tokens, cut after a number of them; `token 1`, ... when the words are not known.
        n_tokens: How many there are.
        confidence: The confidence of each token shown; None where there is no answer.
        consensus: The answer's spans.
        readings: Every annotator's, the first so many.
        n_readings: How many annotators there are.
        gold: The gold's spans; None when it is not known.
    """

    tokens: tuple[str, ...]
    n_tokens: int
    confidence: tuple[float | None, ...]
    consensus: tuple[Span, ...]
    readings: tuple[Reading, ...]
    n_readings: int
    gold: tuple[Span, ...] | None


@dataclass(frozen=True)
class ShownItem:
    """An item in detail.

    Attributes:
        name: Its name.
        text: Its text, cut at a length; None when it is not known. Empty for sentences: see `sentence`.
        is_cut: Whether text or tokens were cut.
        answer: The answer; None for a sentence, and where there is none.
        confidence: The belief in it; for a sentence that of its least sure token. None where there is no answer.
        expected_wrong: 1 - confidence; for a sentence the expected number of wrong tokens.
        beliefs: The most probable classes, most probable first; for a sentence those of its least sure token.
        token: Which token of a sentence is the least sure, from 0; None for documents.
        votes: Every label of it (of that token), the first so many.
        n_votes: How many there are.
        gold: The gold (of that token); None when it is not known.
        sentence: The sentence and everybody's spans; None for documents.
        evidence: Why it got its answer; None when that is not known.
    """

    name: str
    text: str | None
    is_cut: bool
    answer: str | None
    confidence: float | None
    expected_wrong: float
    beliefs: tuple[Belief, ...]
    token: int | None
    votes: tuple[Vote, ...]
    n_votes: int
    gold: str | None
    sentence: TaggedSentence | None
    evidence: Evidence | None


@dataclass(frozen=True)
class LabelFindings:
    """How sure the answers are, and which to check.

    Attributes:
        n_answered: Units with an answer.
        n_unanswered: Units without one.
        n_tied: Units with several best classes.
        expected_wrong: The expected number of wrong answers, by the method's own beliefs.
        expected_wrong_share: Their share; None without answers.
        confidence: A histogram over [0, 1] of the answers' confidence.
        thresholds: What checking below each would cost and find.
        doubts: The items most in doubt, the most doubtful first; those with nothing in doubt are left out.
        n_doubts: How many items have any doubt at all.
        gold_mistakes: Items whose gold the method confidently denies: `answer` against `gold`; the surest first.
        n_gold_mistakes: How many there are.
        sure: How confident the method must be to doubt the gold.
        text_length: Texts longer than this many characters are cut.
        findings: The sentences of this page.
    """

    n_answered: int
    n_unanswered: int
    n_tied: int
    expected_wrong: float
    expected_wrong_share: float | None
    confidence: Histogram
    thresholds: tuple[Threshold, ...]
    doubts: tuple[ShownItem, ...]
    n_doubts: int
    gold_mistakes: tuple[ShownItem, ...]
    n_gold_mistakes: int
    sure: float
    text_length: int
    findings: tuple[Finding, ...]


# --- annotators -------------------------------------------------------------------------------------------------------


class FlagKind(StrEnum):
    """What is wrong with an annotator."""

    adversary = "adversary"
    spammer = "spammer"
    one_class = "one class"
    careless = "careless"
    drift = "drift"
    few = "too few labels"


@dataclass(frozen=True)
class Flag:
    """A flag, and the reason in words: a whole sentence with its figures."""

    kind: FlagKind
    reason: str


@dataclass(frozen=True)
class Confused:
    """A class taken for another: expected number of times, and its share of the labels where the truth is `truth`."""

    truth: str
    label: str
    count: float
    share: float


@dataclass(frozen=True)
class TimeBin:
    """An annotator's labels from begin to end (seconds, as the labels have them): how many, and how reliable."""

    begin: float
    end: float
    n: int
    reliability: Figure


@dataclass(frozen=True)
class Drift:
    """An annotator's reliability over time.

    Attributes:
        bins: Equal numbers of labels each, in the order of time.
        change: The last bin's share of right labels less the first one's.
        p_value: How probable so clear a trend is by chance; None where it cannot be said.
        falls: Whether reliability falls significantly, by all annotators' tests together.
    """

    bins: tuple[TimeBin, ...]
    change: float
    p_value: float | None
    falls: bool


@dataclass(frozen=True)
class SpanMistakes:
    """What became of the true spans that an annotator met, in counts; against gold, or the consensus without it."""

    n_sequences: int
    n_true: int
    n_marked: int
    correct: int
    boundary: int
    wrong_type: int
    ignored: int
    spurious: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True)
class AnnotatorRow:
    """One annotator.

    Attributes:
        name: Their name.
        kind: human, llm or code; None when not known.
        n_labels: Labels given.
        n_items: Items seen.
        reliability: The expected share of right labels, with its credible interval.
        expected_accuracy: How often they would be right if classes came as often as believed; None if not computed.
        gold_accuracy: The share of right labels by gold, with its interval, and over how many: n_gold.
        n_gold: Labels whose gold is known.
        spam_score: 0 for who answers the same whatever the truth, 1 for who is perfect; None if not computed.
        confusions: What they mix up most, at most three.
        matrix: matrix[m][n], expected counts of labels n where the truth is m; None with too many classes.
        favourite: The label they give most; None without labels.
        favourite_share: Its share of their labels.
        weight: The method's own number for them; None when it has none.
        flags: The most serious first.
        drift: Their reliability over time; None without times or with too few labels.
        mistakes: For span tags; None otherwise.
    """

    name: str
    kind: str | None
    n_labels: int
    n_items: int
    reliability: Figure
    expected_accuracy: float | None
    gold_accuracy: Figure
    n_gold: int
    spam_score: float | None
    confusions: tuple[Confused, ...]
    matrix: tuple[tuple[float, ...], ...] | None
    favourite: str | None
    favourite_share: float | None
    weight: float | None
    flags: tuple[Flag, ...]
    drift: Drift | None
    mistakes: SpanMistakes | None


@dataclass(frozen=True)
class PairAgreement:
    """Agreement between the busiest annotators, as square tables over `names`; None where two share nothing.

    Attributes:
        names: The annotators.
        shared: shared[a][b], units that both labelled.
        agreement: agreement[a][b], the share of these with the same label.
        kappa: kappa[a][b], Cohen's; None where it is undefined.
        n_annotators: Of how many annotators these are the busiest.
    """

    names: tuple[str, ...]
    shared: tuple[tuple[int, ...], ...]
    agreement: tuple[tuple[float | None, ...], ...]
    kappa: tuple[tuple[float | None, ...], ...]
    n_annotators: int


@dataclass(frozen=True)
class AnnotatorFindings:
    """Whom to trust.

    Attributes:
        rows: Flagged annotators first (the most serious flag, then the most labels), then the others by labels.
        n_annotators: How many there are; rows may be fewer.
        n_flagged: How many have each flag.
        classes: The names along both axes of the matrices; empty with too many classes.
        level: The level of the intervals.
        reliability: A histogram over [0, 1] of all annotators with labels.
        chance: How often somebody would be right by answering the most common class, or at random, whichever is more.
        pairs: Agreement between the busiest; None with fewer than two annotators.
        against_gold: Whether span mistakes are counted against gold; else against the consensus.
        has_times: Whether labels have times.
        findings: The sentences of this page.
    """

    rows: tuple[AnnotatorRow, ...]
    n_annotators: int
    n_flagged: dict[str, int]
    classes: tuple[str, ...]
    level: float
    reliability: Histogram
    chance: float | None
    pairs: PairAgreement | None
    against_gold: bool
    has_times: bool
    findings: tuple[Finding, ...]


# --- rules ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Flip:
    """An answer that the rules changed.

    Attributes:
        item: The item's name.
        text: Its text or the token, cut; None when it is not known.
        token: Which token, from 0; None for documents.
        before: The most probable class before the rules.
        after: The most probable class with them.
        answer: The final answer.
        gold: The gold; None when it is not known.
        rule: The rule that pushed most; None when that is not known.
        bits: How far it pushed, in bits for `after` against `before`; None when that is not known.
    """

    item: str
    text: str | None
    token: int | None
    before: str
    after: str
    answer: str | None
    gold: str | None
    rule: str | None
    bits: float | None


@dataclass(frozen=True)
class RuleRow:
    """One rule, judged alone.

    Attributes:
        rule: The rule as text.
        place: Where it stands.
        groundings: How many groundings it has.
        n_units: How many units it touches.
        coverage: The share of all units that it touches.
        applications: The expected number of groundings whose body holds.
        satisfaction: The share of these in which it holds, under the crowd's beliefs, with its interval.
        chance: What the satisfaction would be at random; None when undefined.
        moved: How far it moves beliefs, in nats over all units.
        flipped: How many answers it changes, alone.
        flipped_right: Of these, made right; None without gold.
        flipped_wrong: Of these, made wrong; None without gold.
        verdict: helps, neutral or contradicts the crowd.
        reason: The verdict in words: whether to keep it, and why.
        examples: Answers that it changed, as far as they are known.
    """

    rule: str
    place: str
    groundings: int
    n_units: int
    coverage: float
    applications: float
    satisfaction: Figure
    chance: float | None
    moved: float
    flipped: int
    flipped_right: int | None
    flipped_wrong: int | None
    verdict: str
    reason: str
    examples: tuple[Flip, ...]


@dataclass(frozen=True)
class RuleFindings:
    """Which rules to keep.

    Attributes:
        rows: The rules that contradict the crowd first, then by how many answers they change.
        n_rules: How many there are; rows may be fewer.
        n_units: Units in all.
        flips: Answers that all rules together changed, those moved furthest first.
        n_flips: How many there are.
        flips_right: Of these, made right by gold; None without gold.
        flips_wrong: Of these, made wrong; None without gold.
        findings: The sentences of this page.
    """

    rows: tuple[RuleRow, ...]
    n_rules: int
    n_units: int
    flips: tuple[Flip, ...]
    n_flips: int
    flips_right: int | None
    flips_wrong: int | None
    findings: tuple[Finding, ...]


# --- training ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class EpochRow:
    """An epoch of the history; None where a figure was not computed.

    Attributes:
        epoch: Counted from 1.
        loss: The classifier's mean loss.
        k: The imitation: the weight of the rules' side.
        stopping: The stopping score; None where there was nothing to stop by.
        change: The share of training units whose answer changed.
        objective: The log evidence of the labels, per label.
        seconds: How long it took.
        scores: In the order of `score_names`.
    """

    epoch: int
    loss: float | None
    k: float | None
    stopping: float | None
    change: float | None
    objective: float | None
    seconds: float | None
    scores: tuple[float | None, ...]


@dataclass(frozen=True)
class ViewScore:
    """A view of the training items against gold: the classifier, with the crowd, with the rules, the answer."""

    name: str
    title: str
    score: float | None


@dataclass(frozen=True)
class StudentTeacher:
    """A watched set of items at the chosen epoch: the classifier alone, and put right by the rules."""

    name: str
    student: float | None
    teacher: float | None


@dataclass(frozen=True)
class TrainingFindings:
    """How the fit went.

    Attributes:
        epochs: The history.
        chosen: The epoch that was kept.
        stopping_name: What the stopping score is, in words.
        stopped: Why it stopped: a whole sentence.
        score_names: The names of the other scores.
        score_name: What scores are: accuracy, or F1.
        seconds: How long all epochs took; None when not known.
        views: What each source would have answered, against gold; empty without gold.
        watched: Student against teacher.
        findings: The sentences of this page.
    """

    epochs: tuple[EpochRow, ...]
    chosen: int
    stopping_name: str
    stopped: str
    score_names: tuple[str, ...]
    score_name: str
    seconds: float | None
    views: tuple[ViewScore, ...]
    watched: tuple[StudentTeacher, ...]
    findings: tuple[Finding, ...]


# --- comparison -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MethodRow:
    """One method of several.

    Attributes:
        name: The method.
        scores: In the order of `score_names`; empty without gold.
        seconds: How long it took.
        iterations: How many iterations.
        converged: Whether it settled.
        mean_agreement: The mean share of units on which it agrees with each other method; None for a single one.
    """

    name: str
    scores: tuple[float | None, ...]
    seconds: float
    iterations: int
    converged: bool
    mean_agreement: float | None


@dataclass(frozen=True)
class ComparisonFindings:
    """Several methods on the same labels.

    Attributes:
        methods: The best by the first score first; without gold, the one that most agree with.
        score_names: What was scored.
        agreement: agreement[a][b], the share of units answered alike, in the order of `methods`.
        n_disputed: Units on which not all methods agree.
        findings: The sentences of this page.
    """

    methods: tuple[MethodRow, ...]
    score_names: tuple[str, ...]
    agreement: tuple[tuple[float, ...], ...]
    n_disputed: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Report:
    """Everything.

    Attributes:
        title: What the report is of: the name of the run's or estimate's folder.
        made: When, as ISO 8601.
        version: Of crowdlogic.
        classes: The names of the classes.
        summary: The headlines.
        overview: Always there, as are labels and annotators.
        labels: Which labels to check.
        annotators: Whom to trust.
        rules: Which rules to keep; None without rules.
        training: How the fit went; None without a run.
        comparison: Several methods; None unless asked for.
    """

    title: str
    made: str
    version: str
    classes: tuple[str, ...]
    summary: Summary
    overview: Overview
    labels: LabelFindings
    annotators: AnnotatorFindings
    rules: RuleFindings | None = None
    training: TrainingFindings | None = None
    comparison: ComparisonFindings | None = None
