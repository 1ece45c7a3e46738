"""Suggest rules from labelled items: candidates from one half of the items, judged on the other half.

Candidates of every shape are columns of a sparse matrix, so that a shape of a million candidates costs a few sparse
products. Those with the strongest association on the first half are judged on the second one by the held-out
likelihood of `rule_verdicts`; the share of false discoveries is controlled ([BH95]); then rules are chosen greedily by
what they add to those already chosen, which drops the redundant ones.

A text cannot inject rule syntax: words and patterns are quoted for the parser, each rule is parsed again and compared,
and line breaks are removed from comments.

[BH95] Benjamini and Hochberg, "Controlling the false discovery rate", 1995.
Axes: i unit, k class, c candidate, g pair of a unit and a candidate.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from scipy import sparse, stats

from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import build, fit_epoch, predict_texts
from crowdlogic.data.corpus import Corpus, align
from crowdlogic.data.frames import to_corpus
from crowdlogic.data.labels import CrowdLabels
from crowdlogic.data.names import encode
from crowdlogic.errors import CorpusError, CrowdLogicError, LabelError, OptionError, require_kind
from crowdlogic.learning.rule_verdicts import GRID, RuleFreeFit, crisp_log_likelihood, fit_without_rules, judge_rules
from crowdlogic.numerics.arrays import Bools, Floats, Ints
from crowdlogic.numerics.logspace import log_sum_exp, normalise
from crowdlogic.rules.audit import Outcome, RuleVerdict
from crowdlogic.rules.expansion import expand
from crowdlogic.rules.grounding import GroundRule
from crowdlogic.rules.parser import parse_rules
from crowdlogic.rules.potentials import Predictions, distances
from crowdlogic.rules.predicates.tokens import shape
from crowdlogic.rules.predicates.words_and_contrast_clauses import after, before
from crowdlogic.rules.projection.projector import Projector
from crowdlogic.rules.syntax import RuleSet
from crowdlogic.rules.transitions import find_grammar

MOST = 30
"""Maximum number of suggested rules."""
FALSE_DISCOVERIES = 0.05
"""Share of false discoveries among the candidates that are judged."""
MIN_CASES = 8
"""Minimum number of units that a candidate touches in either half."""
MAX_SHARE = 0.6
"""Maximum share of all units that a candidate touches."""
SCREENED, JUDGED, FINAL = 4000, 400, 60
"""Maximum number of candidates that are scored on the second half, chosen among greedily, and grounded."""
MIN_Z = 2.5
"""Minimum standard score of a candidate on the first half."""
MIN_HOLDS = 0.5
"""Minimum share of the cases in which a suggested rule holds."""
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
"""Quantiles of a feature that are tried as thresholds."""
MOST_FEATURE_CELLS, MOST_NEIGHBOURED = 2_000_000, 20_000
"""Maximum number of cells of the features that are used, and of units for rules about nearest neighbours."""
STRENGTH = 5.0
"""Strength C of the rules for which weights are suggested."""
DISCOURSE_TEXTS, CONNECTIVES = 5_000, 120
"""Maximum number of texts that are split into clauses, and of words that are tried as connectives."""
MIN_GAIN, NOT_REDUNDANT = 2.0, 0.25
"""Minimum gain of a rule: in nats, and as a share of its gain without other rules; each less two standard errors."""
MORE_OFTEN = 1.3
"""Minimum ratio of a tag's frequency before another tag to its overall frequency, for a rule that allows this pair."""
MIN_Z_DISCOURSE = 3.0
"""Minimum standard score of a connective."""
CLAUSE_STRENGTH = 2.0
"""Weight of the deciding clause while connectives are compared."""
EXAMPLES, EXAMPLE_LENGTH = 3, 80

Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Suggestion:
    """A suggested rule.

    Attributes:
        rule: The rule with its weight, as written in a rule file.
        shape: Kind of the rule, such as word or discourse.
        verdict: The verdict on the half of the items that was not used to suggest it.
        examples: Texts in which the labels agree with the rule.
        counterexamples: Texts in which the labels disagree with the rule.
    """

    rule: str
    shape: str
    verdict: RuleVerdict
    examples: tuple[str, ...] = ()
    counterexamples: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the rule with its figures as comments."""
        one = self.verdict
        lines = [
            f"# {self.shape}: holds in {one.holds:.0%} of {one.units:,} cases ({one.low:.0%} to {one.high:.0%}; "
            f"{one.chance:.0%} by chance), {one.coverage:.1%} of the units"
        ]
        lines += [f"#   for:     {comment(text)}" for text in self.examples]
        lines += [f"#   against: {comment(text)}" for text in self.counterexamples]
        return "\n".join([*lines, self.rule])


@dataclass(frozen=True, eq=False)
class SuggestedRules:
    """Suggested rules, largest gain first.

    Attributes:
        suggestions: The rules.
        notices: Notices for the user.
    """

    suggestions: tuple[Suggestion, ...]
    notices: tuple[str, ...] = ()

    @property
    def rules(self) -> RuleSet:
        """The rules, parsed."""
        return parse_rules("\n".join(one.rule for one in self.suggestions), source="suggested rules")

    def without(self, rules: RuleSet) -> SuggestedRules:
        """Return the suggestions without those that equal one of the given rules, except for the weight."""
        known = {str(replace(one, weight=None)) for one in rules.rules}
        kept = [
            one
            for one in self.suggestions
            if any(str(replace(rule, weight=None)) not in known for rule in parse_rules(one.rule).rules)
        ]
        return replace(self, suggestions=tuple(kept))

    def text(self) -> str:
        """Return the rule file."""
        head = [f"# {len(self.suggestions)} suggested rules. Read each one, edit it, or delete it."]
        head += [f"# {comment(one)}" for one in self.notices]
        return "\n\n".join(["\n".join(head), *(one.text() for one in self.suggestions)]) + "\n"

    def to_frame(self) -> pl.DataFrame:
        """Return one row per rule: rule, shape, and the figures of its verdict."""
        columns = {
            "holds": "holds",
            "low": "low",
            "high": "high",
            "chance": "chance",
            "touched": "units",
            "gain": "gain",
        }
        rows = [
            {"rule": s.rule, "shape": s.shape} | {name: getattr(s.verdict, key) for name, key in columns.items()}
            for s in self.suggestions
        ]
        return pl.DataFrame(rows)


def comment(text: str) -> str:
    """Return a text that is safe in a comment: one line, printable, short."""
    flat = " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * EXAMPLE_LENGTH]).split())
    return flat if len(flat) <= EXAMPLE_LENGTH else flat[: EXAMPLE_LENGTH - 3] + "..."


def quote(name: str) -> str:
    """Return a quoted constant in the syntax of the parser."""
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"


@dataclass(frozen=True, eq=False)
class _Shape:
    """Candidates for rules of one shape, such as all rules about a single word.

    Attributes:
        name: Name of the shape.
        touched: touched[i, c], 1 where the body of candidate c holds for unit i.
        body: body(c), the body as text.
    """

    name: str
    touched: sparse.csc_array
    body: Callable[[int], str]


def _shape(
    name: str, unit: Ints, column: Ints, bodies: Sequence[str] | Callable[[int], str], n: int, size: int
) -> _Shape:
    """Return candidates of one shape from pairs of a unit and a candidate that applies to it, in any order."""
    cell = np.unique(column.astype(np.int64) * n + unit)
    column, unit = cell // n, cell % n
    start = np.searchsorted(column, np.arange(size + 1))
    found = sparse.csc_array((np.ones(len(unit), dtype=np.float32), unit, start), shape=(n, size))
    return _Shape(name, found, bodies if callable(bodies) else lambda c: bodies[c])


def _frequent(code: Ints, size: int, usable: Bools | None = None) -> tuple[Ints, Bools, Ints]:
    """Select the frequent codes and renumber them.

    Args:
        code: code[n], the code of each occurrence.
        size: Number of codes.
        usable: usable[v], the codes that may be selected; None for all.

    Returns:
        The selected codes, selected[n] of the occurrences, and the new number of each selected occurrence.
    """
    often = np.bincount(code, minlength=size) >= 2 * MIN_CASES
    often = often if usable is None else often & usable
    selected = often[code]
    return np.flatnonzero(often), selected, (np.cumsum(often) - 1)[code[selected]]


CJK = r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]"
"""Scripts without spaces between words."""

PATTERNS = {
    "has a digit": r"\d",
    "has a link": r"(?i)(https?://|www\.)",
    "has an exclamation mark": "!",
    "has a question mark": r"\?",
    "has a word in capitals": r"\b\p{Lu}{3,}\b",
    "has an e-mail address": r"\S@\S+\.\S",
    "has a currency sign": r"\p{Sc}",
    "has an emoji": r"\p{Extended_Pictographic}",
    "has at most 5 words": r"^\s*(\S+\s+){0,4}\S*\s*$",
    "has at least 40 words": r"^\s*(\S+\s+){39}",
}
"""Patterns of punctuation, symbols and length, by description."""


def _document_shapes(corpus: Corpus) -> Iterable[_Shape]:
    """Yield words, phrases of two words, endings, signs and length; characters where words are not separated."""
    texts, n = pl.Series("text", corpus.texts, dtype=pl.String), len(corpus.items)
    frame = pl.DataFrame(
        {"unit": np.arange(n, dtype=np.int64), "word": texts.str.to_lowercase().str.extract_all(r"\w+")}
    )
    words = frame.explode("word").drop_nulls()
    if len(words):
        code, names = encode(words["word"])
        unit = words["unit"].to_numpy()
        usable = ((names.str.len_chars() <= 40) & ~names.str.contains(CJK)).to_numpy()
        often, rows, number = _frequent(code, len(usable), usable)
        chosen = names.gather(often).to_list()
        yield _shape("word", unit[rows], number, [f"Contains(S, {quote(w)})" for w in chosen], n, len(chosen))

        # Two frequent words, one after the other; numbers[m] of each word in the texts, -1 for rare ones
        numbers = np.full(len(code), -1, dtype=np.int64)
        numbers[rows] = number
        pairs = np.flatnonzero((unit[1:] == unit[:-1]) & (numbers[1:] >= 0) & (numbers[:-1] >= 0))
        distinct, pair = np.unique(numbers[pairs] * len(chosen) + numbers[pairs + 1], return_inverse=True)
        frequent, kept, column = _frequent(pair, len(distinct))

        def phrase(c: int) -> str:
            first, second = divmod(int(distinct[frequent[c]]), len(chosen))
            return f"Contains(S, {quote(f'{chosen[first]} {chosen[second]}')})"

        yield _shape("phrase", unit[pairs[kept]], column, phrase, n, len(frequent))

        # Words of at least five letters with the same ending of three letters; several words, which may be rare
        known, endings = encode(names.str.extract(r"^\p{L}{2,}(\p{L}{3})$", 1).fill_null(""))
        kinds = np.bincount(known, minlength=len(endings))  # the number of words with each ending
        counted = usable[code]
        enough = (kinds >= 3) & (endings != "").to_numpy()
        often, rows, number = _frequent(known[code[counted]], len(endings), enough)
        bodies = ["Matches(S, " + quote(r"(?i)\w\w" + ending + r"\b") + ")" for ending in endings.gather(often)]
        yield _shape("ending", unit[counted][rows], number, bodies, n, len(often))
    yield from _characters(texts, n)
    found = [texts.str.contains(pattern).fill_null(False).to_numpy() for pattern in PATTERNS.values()]
    unit, column = np.nonzero(np.stack(found, axis=1))
    yield _shape("signs", unit, column, [f"Matches(S, {quote(p)})" for p in PATTERNS.values()], n, len(found))


def _characters(texts: pl.Series, n: int) -> Iterable[_Shape]:
    """Yield two characters in a row, where words are not separated by spaces."""
    runs = texts.str.extract_all(f"{CJK}{{2,}}")
    if not runs.list.len().sum():
        return
    pairs = [
        (i, run[a : a + 2])
        for i, found in enumerate(runs.to_list())
        for run in found or ()
        for a in range(len(run) - 1)
    ]
    frame = pl.DataFrame(pairs, schema={"unit": pl.Int64, "pair": pl.String}, orient="row")
    code, names = encode(frame["pair"])
    often, rows, number = _frequent(code, len(names))
    bodies = [f"Matches(S, {quote(name)})" for name in names.gather(often)]
    yield _shape("characters", frame["unit"].to_numpy()[rows], number, bodies, n, len(bodies))


def _token_shapes(corpus: Corpus) -> Iterable[_Shape]:
    """Yield the word of a token, of its neighbours, its shape and its ending."""
    tokens, n = pl.Series("token", corpus.tokens, dtype=pl.String), corpus.n_units
    starts = np.zeros(n + 1, dtype=bool)
    starts[np.asarray(corpus.offsets)] = True
    lower = tokens.str.to_lowercase()
    columns = {
        "word": (tokens, 0, "Token(T, {})"),
        "word before": (tokens, -1, "Previous(T, P) & Token(P, {})"),
        "word after": (tokens, 1, "Next(T, N) & Token(N, {})"),
        "shape": (shape(tokens), 0, "Shape(T, {})"),
        "shape before": (shape(tokens), -1, "Previous(T, P) & Shape(P, {})"),
        "ending": (lower.str.extract(r"\w\w(\w{3})$", 1), 0, "ending"),
    }
    for shape_name, (column, shift, template) in columns.items():
        present = column.is_not_null().to_numpy()
        code = np.full(n, -1, dtype=np.int64)
        code[present], names = encode(column.drop_nulls())
        at = np.arange(n)
        if shift:  # the candidate is about the neighbour of the unit
            unit = np.flatnonzero(~starts[:n]) if shift < 0 else np.flatnonzero(~starts[1:])
            at = unit + shift
        else:
            unit = at
        keep = code[at] >= 0
        unit, at = unit[keep], at[keep]
        often, rows, number = _frequent(code[at], len(names))
        chosen = names.gather(often).to_list()
        if template == "ending":
            bodies = ["Matches(T, " + quote(r"(?i)\w\w" + re.escape(name) + "$") + ")" for name in chosen]
        else:
            bodies = [template.format(quote(name)) for name in chosen]
        yield _shape(shape_name, unit[rows], number, bodies, n, len(bodies))
    yield _shape(
        "place", np.flatnonzero(starts[:n]), np.zeros(int(starts[:n].sum()), dtype=np.int64), ["First(T)"], n, 1
    )


def _feature_shape(corpus: Corpus, variable: str) -> _Shape:
    """Return thresholds on named features, at some of their quantiles."""
    n = corpus.n_units
    features: Any = corpus.features  # dense or sparse
    x = sparse.csc_array(features)[:, : max(1, MOST_FEATURE_CELLS // max(n, 1))].toarray()
    names = corpus.feature_names or tuple(map(str, range(x.shape[1])))
    units: list[Ints] = [np.zeros(0, dtype=np.int64)]
    bodies: list[str] = []
    for d in range(x.shape[1]):
        for threshold in np.unique(np.quantile(x[:, d], QUANTILES)):
            text = f"{threshold:.4g}"
            above = x[:, d] >= float(text)
            units += [np.flatnonzero(above), np.flatnonzero(~above)]
            bodies += [f"{name}({variable}, {quote(names[d])}, '{text}')" for name in ("Above", "Below")]
    column = np.repeat(np.arange(len(bodies)), [len(one) for one in units[1:]])
    return _shape("feature", np.concatenate(units), column, bodies, n, len(bodies))


def suggest_rules(
    labels: CrowdLabels,
    items: Any,
    *,
    fit: RuleFreeFit | None = None,
    gold: Ints | None = None,
    most: int = MOST,
    seed: int = 0,
    progress: Progress | None = None,
) -> SuggestedRules:
    """Suggest rules.

    Args:
        labels: The labels.
        items: The items: a Corpus, a frame with item and text, or any other form that `fit` accepts.
        fit: A fit without rules to the same labels and items; computed if not given.
        gold: gold[i], known classes of the labels' units; UNKNOWN (-1) elsewhere. Items must be in the labels' order.
        most: Maximum number of rules.
        seed: Random seed of the halves.
        progress: Function called with a short text at every step.
    """
    require_kind(labels, CrowdLabels, "suggest_rules", "Labels come first: suggest_rules(labels, items).")
    say = progress or (lambda _: None)
    corpus = to_corpus(items, sequential=labels.is_sequential)
    if not corpus.items.equals(labels.items):
        if fit is not None or gold is not None:
            raise OptionError(
                "suggest_rules: fit and gold need items in the order of labels. Call crowdlogic.data.align first."
            )
        labels, corpus = align(labels, corpus)
    if labels.n_classes < 2:
        raise LabelError(
            "All labels have the same class, so no rule can be suggested. Supply labels of at least two classes."
        )
    has_text = corpus.texts is not None or corpus.tokens is not None
    if not has_text and corpus.features is None:
        raise CorpusError(
            "The items have no texts to find rules in. Give items with a column of texts, or numeric features "
            "(--features)."
        )
    say("annotators")
    known = fit or fit_without_rules(labels, corpus, gold=gold, seed=seed)
    item = labels.item_of_unit
    informed_items = np.unique(item[known.informed])
    if len(informed_items) < 4 * MIN_CASES:
        return SuggestedRules(
            (), (f"{len(informed_items)} labelled items are too few to suggest rules: {4 * MIN_CASES} are needed.",)
        )
    rng = np.random.default_rng(seed + 1)
    half_of_item = np.zeros(len(labels.items), dtype=bool)
    half_of_item[rng.permutation(informed_items)[: len(informed_items) // 2]] = True
    first, second = half_of_item[item] & known.informed, ~half_of_item[item] & known.informed
    found = _Scored(known, first, second)
    shapes: Iterable[_Shape] = ()
    if corpus.is_sequential and has_text:
        shapes = _token_shapes(corpus)
    elif corpus.texts is not None:
        shapes = _document_shapes(replace(corpus, texts=tuple(text or "" for text in corpus.texts)))
    variable = "T" if corpus.is_sequential else "S"
    for one in shapes:
        say(one.name)
        found.add(one)
    if corpus.features is not None:
        say("features")
        found.add(_feature_shape(corpus, variable))
    say("choosing")
    chosen = found.choose(FINAL)
    rules = [
        (f"{shape_name}", f"{{weight}}: {body} -> Label({variable}, {quote(str(labels.classes[k]))})")
        for shape_name, body, k in chosen
    ]
    if corpus.features is not None and corpus.n_units <= MOST_NEIGHBOURED:
        rules += [("neighbours", f"{{weight}}: Nearest({variable}, U, '5') & Label({variable}, C) -> Label(U, C)")]
    if not corpus.is_sequential and has_text:
        say("discourse")
        rules += [("discourse", rule) for rule in _discourse(known, first, second, rng)]
    if corpus.is_sequential:
        say("transitions")
        rules += [("transition", rule) for rule in _transitions(known, first)]
        if len(corpus.items) and corpus.tokens is not None:
            rules += [
                ("same word", "{weight}: SameSequence(T, U) & Token(T, W) & Token(U, W) & Label(T, C) -> Label(U, C)")
            ]
    say("judging")
    suggested = _finish(rules, known, second, most)
    if len(labels.annotators) > 1:
        return suggested
    alone = "There is one annotator, so nothing tells how often the labels are right."
    return replace(suggested, notices=(*suggested.notices, alone))


class _Scored:
    """Candidates that passed the first half, with their scores on the second half."""

    def __init__(self, fit: RuleFreeFit, first: Bools, second: Bools) -> None:
        self.evidence, self.share = fit.evidence[0].astype(np.float64), fit.class_shares[0]
        self.q = normalise(self.evidence + np.log(self.share))[0]  # q[i, k] of the labels alone
        self.first, self.second = first, second
        self.bodies: list[tuple[str, str, int]] = []
        self.columns: list[tuple[Ints, int, float, float]] = []  # units of the second half, class, lift, log p
        self.tested = 0

    def add(self, shape: _Shape) -> None:
        """Screen the candidates of a shape on the first half, and score those that pass on the second half."""
        touched = shape.touched
        n_first = touched.T @ self.first.astype(np.float32)
        n_second = touched.T @ self.second.astype(np.float32)
        total = float(self.first.sum())
        fit_size = (n_first >= MIN_CASES) & (n_second >= MIN_CASES) & (n_first <= MAX_SHARE * total)
        # z[c, k], the standard score of class k among the touched units of the first half
        residual = (self.q - self.share) * self.first[:, None]
        score = touched.T @ residual
        spread = np.sqrt(touched.T @ residual**2 + 1e-9)
        z = np.where(fit_size[:, None], score / spread, -np.inf)
        best = z.argmax(axis=1)
        top = z[np.arange(len(best)), best]
        order = np.argsort(-top)[:SCREENED]
        for c in order[top[order] > MIN_Z]:
            units = touched.indices[touched.indptr[c] : touched.indptr[c + 1]]
            units = units[self.second[units]]
            k = int(best[c])
            chance = np.full(len(units), 1.0 - self.share[k])
            curve = crisp_log_likelihood(chance, 1.0 - self.q[units, k], GRID).sum(axis=0)
            lift = float(GRID[curve.argmax()])
            z_second = math.copysign(math.sqrt(2 * max(float(curve.max() - curve[len(GRID) // 2]), 0.0)), lift)
            self.tested += 1
            self.bodies.append((shape.name, shape.body(int(c)), k))
            self.columns.append((units, k, lift, float(stats.norm.sf(z_second))))

    def choose(self, most: int) -> list[tuple[str, str, int]]:
        """Return the candidates that are not false discoveries, chosen greedily by their gain."""
        if not self.columns:
            return []
        p = np.array([one[3] for one in self.columns])
        order = np.argsort(p)
        passed = np.flatnonzero(p[order] <= FALSE_DISCOVERIES * np.arange(1, len(p) + 1) / len(p))
        kept: list[int] = order[: passed[-1] + 1][:JUDGED].tolist() if len(passed) else []
        # The share of the cases in which candidate c holds, from its lift over the share of its class
        odds = [self.share[k] / max(1 - self.share[k], 1e-9) * math.exp(lift) for _, k, lift, _ in self.columns]
        kept = [c for c in kept if odds[c] / (1 + odds[c]) >= MIN_HOLDS]
        log_p = np.tile(np.log(self.share), (len(self.q), 1))
        alone = log_p.copy()
        chosen: list[tuple[str, str, int]] = []
        remaining = dict.fromkeys(kept)
        gains = dict.fromkeys(kept, math.inf)
        while remaining and len(chosen) < most:
            # A gain can only decrease as rules are chosen, so the largest recomputed one wins (lazy greedy).
            fresh: set[int] = set()
            while True:
                c = max(remaining, key=lambda one: gains[one])
                if c in fresh:
                    break
                gains[c] = self._gain(c, log_p)
                fresh.add(c)
            del remaining[c]
            if gains[c] < max(MIN_GAIN, NOT_REDUNDANT * self._gain(c, alone)):
                if gains[c] < MIN_GAIN:
                    break
                continue
            units, k, lift, _ = self.columns[c]
            log_p[units] -= lift * (np.arange(log_p.shape[1]) != k)
            log_p[units] -= log_sum_exp(log_p[units], axis=1)[:, None]
            chosen.append(self.bodies[c])
        return chosen

    def _gain(self, c: int, log_p: Floats) -> float:
        """Return the gain of a candidate in log-likelihood, less two standard errors, on the second half."""
        units, k, lift, _ = self.columns[c]
        likely = normalise(log_p[units] + self.evidence[units])[0]
        gain = crisp_log_likelihood(1.0 - np.exp(log_p[units, k]), 1.0 - likely[:, k], np.array([lift]))[:, 0]
        return float(gain.sum() - 2 * math.sqrt(len(gain) * gain.var()))


def _discourse(fit: RuleFreeFit, first: Bools, second: Bools, rng: np.random.Generator) -> list[str]:
    """Return rules on connectives for which the clause before or after them decides the label.

    Clauses of the first half are predicted by a classifier trained on the second half. A connective matters if the
    clause on one side predicts the labels better than the clause on the other side, by more than for an average word.
    """
    texts = fit.corpus.texts or ()
    rows = np.sort(rng.permutation(np.flatnonzero(first))[:DISCOURSE_TEXTS])
    column = pl.Series("text", [texts[i] for i in rows], dtype=pl.String)
    words = (
        pl.DataFrame({"word": column.str.to_lowercase().str.extract_all(r"\w+").list.unique()})
        .explode("word")
        .drop_nulls()
    )
    counted = (
        words["word"]
        .value_counts(sort=True)
        .filter((pl.col("count") >= 4 * MIN_CASES) & (pl.col("word").str.len_chars() <= 40))
    )
    cuts: list[tuple[str, Ints, pl.Series, pl.Series]] = []
    for word in counted["word"].head(CONNECTIVES).to_list():
        behind, ahead = after(column, word), before(column, word)
        at = np.flatnonzero((behind.is_not_null() & ahead.is_not_null()).to_numpy())
        if len(at) >= 2 * MIN_CASES:
            cuts.append((word, at, behind.gather(at), ahead.gather(at)))
    if len(cuts) < 2:
        return []
    model = build(Linear(), fit.corpus, fit.labels.classes, seed=0)
    for _ in range(5):
        fit_epoch(model, fit.corpus, fit.beliefs, second.astype(np.float64))
    together = pl.concat([clauses for _, _, behind, ahead in cuts for clauses in (behind, ahead)])
    code, distinct = encode(together)
    p = predict_texts(model, distinct.to_list())[code]
    whole = predict_texts(model, column.to_list())
    evidence, log_share = fit.evidence[0].astype(np.float64)[rows], np.log(fit.class_shares[0])
    found, begin = [], 0
    for word, at, _, _ in cuts:
        # log-likelihood of the labels if the clause behind the word decides, minus that of the clause ahead of it
        sides = []
        for part in (p[begin : begin + len(at)], p[begin + len(at) : begin + 2 * len(at)], whole[at]):
            tilted = log_share + CLAUSE_STRENGTH * part
            sides.append(log_sum_exp(tilted + evidence[at], axis=1) - log_sum_exp(tilted, axis=1))
        begin += 2 * len(at)
        # A clause decides if it predicts the labels better than the whole text.
        decides = max(sides[0].mean(), sides[1].mean()) > sides[2].mean()
        found.append((word, sides[0] - sides[1], decides))
    usual = np.median([difference.mean() for _, difference, _ in found])
    scored = []
    for word, difference, decides in found:
        if not decides:
            continue
        z = (difference.mean() - usual) / math.sqrt(difference.var() / len(difference) + 1e-12)
        scored.append((abs(float(z)), "After" if z > 0 else "Before", word))
    scored.sort(reverse=True)
    return [
        f"{{weight}}: Label(S, C) & {name}(S, {quote(word)}, B) -> Predicted(B, C)"
        for z, name, word in scored[:5]
        if z > MIN_Z_DISCOURSE
    ]


def _transitions(fit: RuleFreeFit, first: Bools) -> list[str]:
    """Return rules on the tags that may precede each tag, if nearly all of its cases follow one of a few tags.

    For span tags (BIO, BIOES) the candidates are the rules of their grammar.
    """
    grammar = find_grammar(fit.labels)
    if grammar is not None:
        written = expand(parse_rules(f"1.0: include {grammar}"), fit.labels.classes)
        return [f"{{weight}}: {str(rule).partition(': ')[2]}" for rule in written.rules]
    classes, offsets = [str(name) for name in fit.labels.classes], np.asarray(fit.labels.offsets)
    answer = fit.beliefs.argmax(axis=1)
    begins = np.zeros(len(answer), dtype=bool)
    begins[offsets[:-1][np.diff(offsets) > 0]] = True
    rows = np.flatnonzero(~begins & first)
    size = len(classes)
    pairs = np.bincount(answer[rows - 1] * size + answer[rows], minlength=size * size).reshape(
        size, size
    )  # [before, tag]
    start = np.bincount(answer[begins & first], minlength=size)
    share = np.bincount(answer[first], minlength=size) / max(first.sum(), 1)
    rules = []
    for k in range(size):
        cases = pairs[:, k].sum()
        if cases < MIN_CASES:
            continue
        rate = pairs[:, k] / cases
        allowed = [m for m in np.argsort(-rate) if rate[m] > MORE_OFTEN * share[m] and rate[m] > 0.02]
        if not allowed or rate[allowed].sum() < 0.5 or share[allowed].sum() > 0.6:
            continue
        head = " | ".join(f"Label(P, {quote(classes[m])})" for m in sorted(allowed))
        rules.append(f"{{weight}}: Label(T, {quote(classes[k])}) & Previous(T, P) -> {head}")
        expected = share[k] * start.sum()
        if expected >= 5 and start[k] < expected / 5:
            rules.append(f"{{weight}}: First(T) -> !Label(T, {quote(classes[k])})")
    return rules


def _finish(rules: Sequence[tuple[str, str]], fit: RuleFreeFit, second: Bools, most: int) -> SuggestedRules:
    """Ground the rules, judge each on the second half, and keep those that help."""
    kept = []
    for name, template in rules:
        text = template.format_map({"weight": "1.0"}) if template.startswith("{weight}") else template
        # A rule is one line that the parser reads as one statement.
        with suppress(CrowdLogicError):
            if text.isprintable() and len(parse_rules(text, source="suggested rules").statements) == 1:
                kept.append((name, text))
    if not kept:
        return SuggestedRules((), ("No rule was found that holds more often than by chance.",))
    parsed = parse_rules("\n".join(text for _, text in kept), source="suggested rules")
    ground = Projector(rules=parsed).ground(fit.corpus, fit.labels.classes)
    verdicts = judge_rules(ground, fit, strength=STRENGTH, within=second)
    found = []
    for (name, text), verdict, rule in zip(kept, verdicts, ground.rules, strict=True):
        if verdict.outcome is not Outcome.helps or (name != "discourse" and verdict.holds < MIN_HOLDS):
            continue
        weight = round(min(max((verdict.lift - verdict.lift_error) / STRENGTH, 0.05), 1.0), 2)
        examples, against = _examples(fit, rule)
        found.append(Suggestion(f"{weight}: {text.partition(': ')[2]}", name, verdict, examples, against))
    found.sort(key=lambda one: -one.verdict.best_gain)
    return SuggestedRules(tuple(found[:most]))


def _examples(fit: RuleFreeFit, rule: GroundRule) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return texts in which the labels agree with a rule, and texts in which they disagree; single-unit rules only."""
    answer, item, corpus = fit.beliefs.argmax(axis=1), fit.labels.item_of_unit, fit.corpus
    right: list[str] = []
    wrong: list[str] = []
    for block in rule.blocks:
        if block.second is not None or not block.is_static:
            continue
        rows = np.flatnonzero(fit.informed[block.first])[:500]
        found = distances(block, Predictions())
        which = np.zeros(len(block.first), dtype=np.int64) if found.which is None else found.which
        violated = found.table[which[rows], answer[block.first[rows]]] > 0.5
        for side, chosen in ((right, rows[~violated]), (wrong, rows[violated])):
            for unit in block.first[chosen[: EXAMPLES - len(side)]]:
                s = int(item[unit])
                if corpus.tokens is None or corpus.offsets is None:
                    side.append(corpus.texts[s] if corpus.texts else str(corpus.items[s]))
                    continue
                # The token in brackets, with up to four neighbours on either side
                a, b = max(int(corpus.offsets[s]), int(unit) - 4), min(int(corpus.offsets[s + 1]), int(unit) + 5)
                around = enumerate(corpus.tokens[a:b], start=a)
                side.append(" ".join(f"[{token}]" if i == unit else token for i, token in around))
    return tuple(right), tuple(wrong)
