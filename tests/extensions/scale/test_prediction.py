"""Items predicted piece by piece get the answers of one prediction; what cannot be cut is refused in one line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from crowdlogic import CRF, LogicLNCL, TrainingLimits, parse_rules
from crowdlogic.data.simulate import simulate_ner, simulate_sentiment
from crowdlogic.errors import CorpusError, CrowdLogicError, FormatError, OptionError, RuleError
from crowdlogic.extensions.scale import prediction
from crowdlogic.extensions.scale.prediction import Piece, PieceAnswered, PiecePredictor, predict_pieces, relates_items
from crowdlogic.learning import train_run
from crowdlogic.learning.method import TrainingData
from crowdlogic.rules.predicates import Vocabulary
from crowdlogic.workflows.predict import PredictOptions, predict

BUT = "1.0: Label(S, C) & After(S, 'but', B) -> Predicted(B, C)"
PAIRS = pl.DataFrame({"a": ["x"], "b": ["y"]})


@pytest.fixture(scope="session")
def documents_run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run over simulated reviews, with a rule."""
    crowd = simulate_sentiment(0, items=80, annotators=6)
    folder = tmp_path_factory.mktemp("documents") / "run"
    limits = TrainingLimits(epochs=2, held_out=None)
    train_run(
        folder,
        LogicLNCL(limits=limits),
        TrainingData(corpus=crowd.corpus, labels=crowd.labels, rules=parse_rules(BUT)),
    )
    return str(folder)


@pytest.fixture(scope="session")
def tags_run(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A run over simulated sentences, with rules about neighbouring tokens."""
    crowd = simulate_ner(0, items=30, annotators=4)
    folder = tmp_path_factory.mktemp("tags") / "run"
    limits = TrainingLimits(epochs=2, held_out=None)
    train_run(
        folder,
        LogicLNCL(classifier=CRF(), limits=limits),
        TrainingData(corpus=crowd.corpus, labels=crowd.labels, rules=parse_rules("include bio\n")),
    )
    return str(folder)


@pytest.fixture
def options(documents_run: str, tmp_path: Path) -> PredictOptions:
    """Forty new reviews in a folder of two Parquet files, with small row groups."""
    folder = tmp_path / "items"
    folder.mkdir()
    texts = simulate_sentiment(1, items=40, annotators=2).corpus.texts
    table = pl.DataFrame({"item": [f"r{i}" for i in range(40)], "text": texts})
    table[:25].write_parquet(folder / "a.parquet", row_group_size=8)
    table[25:].write_parquet(folder / "b.parquet", row_group_size=8)
    return PredictOptions(
        run=documents_run, items=str(folder), out=str(tmp_path / "out" / "answers.parquet"), engine="local"
    )


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(prediction, "PIECE_ROWS", 7)
    monkeypatch.setattr(prediction, "BATCH_ROWS", 3)


def write_whole(options: PredictOptions, path: Path) -> PredictOptions:
    """The same items in one file, predicted without an engine."""
    table = pl.concat([pl.read_parquet(part) for part in sorted(Path(options.items).iterdir())])
    table.write_parquet(path)
    return replace(options, engine=None, items=str(path), out=str(path.with_suffix(".answers.parquet")))


def written(options: PredictOptions) -> list[str]:
    """Everything in the folder of the output."""
    return sorted(path.name for path in Path(options.out).parent.iterdir())


@pytest.mark.parametrize("student", [False, True])
def test_pieces_have_the_answers_of_the_whole(options: PredictOptions, tmp_path: Path, student: bool) -> None:
    options = replace(options, student=student)
    expected = predict(write_whole(options, tmp_path / "whole.parquet"))

    done = predict(options)

    assert_frame_equal(pl.read_parquet(options.out), pl.read_parquet(expected.out), abs_tol=1e-12)
    assert done.counts == {"items": 40, "units": 40}
    assert done.message == expected.message.replace(expected.out, options.out)
    assert written(options) == ["answers.parquet"]


def test_texts_without_names_are_numbered_across_files(options: PredictOptions, tmp_path: Path) -> None:
    for path in Path(options.items).iterdir():
        pl.read_parquet(path).drop("item").write_parquet(path)
    expected = predict(write_whole(options, tmp_path / "whole.parquet"))

    done = predict(options)

    assert_frame_equal(pl.read_parquet(options.out), pl.read_parquet(expected.out), abs_tol=1e-12)
    assert "numbered from 0" in done.notices[0]


@pytest.mark.parametrize("suffix", [".csv", ".jsonl"])
def test_other_formats_hold_the_same(options: PredictOptions, suffix: str) -> None:
    predict(options)
    other = replace(options, out=str(Path(options.out).with_suffix(suffix)))

    predict(other)

    read = pl.read_csv if suffix == ".csv" else pl.read_ndjson
    assert_frame_equal(read(other.out), pl.read_parquet(options.out), check_dtypes=False)


@pytest.mark.parametrize("column", ["text", "tokens"])
def test_sentences_are_tagged_like_the_whole(
    tags_run: str, options: PredictOptions, tmp_path: Path, column: str
) -> None:
    corpus = simulate_ner(1, items=20, annotators=2).corpus
    sentences = [list(corpus.sentence(s)) for s in range(20)]
    given = sentences if column == "tokens" else [" ".join(one) for one in sentences]
    for path in Path(options.items).iterdir():
        path.unlink()
    pl.DataFrame({"item": range(20), column: given}).write_parquet(Path(options.items) / "a.parquet")
    options = replace(options, run=tags_run)
    expected = predict(write_whole(options, tmp_path / "whole.parquet"))

    done = predict(options)

    assert_frame_equal(pl.read_parquet(options.out), pl.read_parquet(expected.out), abs_tol=1e-12)
    assert done.counts == {"items": 20, "units": expected.counts["units"]}


def test_an_empty_file_among_others_is_skipped(options: PredictOptions) -> None:
    first = Path(options.items) / "a.parquet"
    pl.read_parquet(first).clear().write_parquet(Path(options.items) / "aa.parquet")

    assert predict(options).counts["items"] == 40


def edit_first_file(options: PredictOptions, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    path = Path(options.items) / "a.parquet"
    change(pl.read_parquet(path)).write_parquet(path)


def test_a_bad_row_is_named_and_nothing_is_written(options: PredictOptions) -> None:
    edit_first_file(
        options, lambda t: t.with_columns(text=pl.when(pl.col("item") == "r17").then(None).otherwise("text"))
    )

    with pytest.raises(CorpusError, match=r"a\.parquet, row 17: no text\. Fill in the text"):
        predict(options)

    assert written(options) == []


def test_an_item_in_two_files_is_refused(options: PredictOptions) -> None:
    edit_first_file(options, lambda t: t.with_columns(item=t["item"].replace("r3", "r30")))

    with pytest.raises(CorpusError, match=r"b\.parquet, row 5: item 'r30' appears again \(first: .*a\.parquet, row 3"):
        predict(options)

    assert written(options) == []


def test_files_with_other_columns_are_refused(options: PredictOptions) -> None:
    edit_first_file(options, lambda t: t.with_columns(more=1))

    with pytest.raises(FormatError, match=r"b\.parquet: columns or types differ from those of .*a\.parquet"):
        predict(options)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"items": "items.csv"}, r"items\.csv: --engine local reads Parquet files"),
        ({"out": "answers.conll"}, r"-o answers\.conll: .* written as one of \.parquet"),
        ({"out": "-"}, r"-o -: .* written as one of \.parquet"),
        ({"workers": 2}, r"--engine local predicts in this process"),
        ({"run": "nosuch"}, r"nosuch: .*config\.json"),
        ({"items": "nosuch.parquet"}, r"nosuch\.parquet"),
    ],
)
def test_bad_options_are_one_line(
    options: PredictOptions,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    change: dict[str, Any],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("items.csv").write_text("item,text\na,fine\n")

    with pytest.raises(CrowdLogicError, match=message) as refused:
        predict(replace(options, **change))

    assert "\n" not in str(refused.value)
    assert written(options) == []


def test_gold_is_not_scored_and_that_is_said(options: PredictOptions) -> None:
    for path in Path(options.items).iterdir():
        pl.read_parquet(path).with_columns(label=pl.lit("positive")).write_parquet(path)

    done = predict(options)

    assert done.score is None
    assert "its gold is not scored with --engine" in done.notices[0]


def test_pieces_may_be_answered_in_any_order(options: PredictOptions) -> None:
    def backwards(predictor: PiecePredictor, pieces: Sequence[Piece]) -> Iterator[PieceAnswered]:
        return (predictor.answer(piece) for piece in reversed(pieces))

    predict_pieces(options, backwards)

    assert pl.read_parquet(options.out)["item"].to_list() == [f"r{i}" for i in range(40)]


@pytest.mark.parametrize(
    ("rule", "related"),
    [
        (BUT, False),
        ("1.0: Contains(S, 'fine') -> Label(S, 'a')", False),
        ("1.0: Above(S, 'age', '65') -> Label(S, 'a')", False),
        ("1.0: Label(T, 'a') & Previous(T, P) -> Label(P, 'a')", False),
        ("1.0: Label(T, 'a') & SameSequence(T, U) & Next(U, V) -> Label(V, 'a')", False),
        ("1.0: Label(T, 'a') & Token(T, W) & Token(U, W) -> Label(U, 'a')", True),
        ("0.5: Similar(A, B) & Label(A, C) -> Label(B, C)", True),
        ("0.5: Nearest(A, B, '5') & Label(A, C) -> Label(B, C)", True),
        ("0.5: Similar(A, N) -> Label(A, 'a')", True),
        ("1.0: Label('x', 'a')", True),
    ],
)
def test_rules_that_relate_items_are_found(rule: str, related: bool) -> None:
    vocabulary = Vocabulary().table("Similar", PAIRS)
    (parsed,) = parse_rules(rule).rules

    assert relates_items(parsed, vocabulary) is related


def test_rules_that_relate_items_are_refused_except_for_the_student(options: PredictOptions, tmp_path: Path) -> None:
    crowd = simulate_sentiment(0, items=30, annotators=4)
    vocabulary = Vocabulary().table(
        "Similar", pl.DataFrame({"a": crowd.corpus.items[:1], "b": crowd.corpus.items[1:2]})
    )
    rules = parse_rules("0.5: Similar(A, B) & Label(A, C) -> Label(B, C)")
    run = tmp_path / "related"
    train_run(
        run,
        LogicLNCL(limits=TrainingLimits(epochs=1, held_out=None)),
        TrainingData(corpus=crowd.corpus, labels=crowd.labels, rules=rules, vocabulary=vocabulary),
    )
    options = replace(options, run=str(run))

    with pytest.raises(RuleError, match=r"--engine local: the rule 0\.5: Similar.* relates items") as refused:
        predict(options)

    assert "\n" not in str(refused.value)
    assert predict(replace(options, student=True)).counts["items"] == 40


def test_features_come_from_columns_only(options: PredictOptions) -> None:
    options = replace(options, input=replace(options.input, features="numbers.npz"))

    with pytest.raises(OptionError, match=r"--engine reads features from columns"):
        predict(options)


@pytest.mark.heavy
@pytest.mark.parametrize("engine", ["ray", "spark"])
def test_engines_have_the_answers_of_one_process(run_case: Callable[..., Any], engine: str) -> None:
    found = run_case(engine, "predict")

    assert found["apart"] < 1e-6
    assert found["items"] == 60
    assert "row 17: no text" in found["refused"]
    assert found["left"] == []


@pytest.mark.heavy
def test_a_udf_of_spark_has_the_answers_of_the_run(run_case: Callable[..., Any]) -> None:
    found = run_case("spark", "udf")

    assert found["documents"] < 1e-6
    assert found["tags"] < 1e-6
    assert found["null"] == [None, None]
