"""Prediction with Spark: one task per piece of Parquet files, or a pandas UDF over a column of texts; see `prediction`.

from crowdlogic.extensions.scale.spark_prediction import prediction_udf

predict = prediction_udf("run")
frame.withColumn("answer", predict("text")).select("id", "answer.label", "answer.confidence")
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql.functions import pandas_udf

from crowdlogic.data.frames import to_corpus
from crowdlogic.data.names import as_text
from crowdlogic.extensions.scale.prediction import (
    Piece,
    PieceAnswered,
    PiecePredictor,
    answers_table,
    load_run_once,
    predict_pieces,
    refuse_related_items,
)
from crowdlogic.extensions.scale.spark import Batches, collect_rows, start_spark
from crowdlogic.learning.saved_run import load_run
from crowdlogic.workflows.predict import Predicted, PredictOptions, answer_items

DEFAULT_WORKERS = 2
REPORT_SCHEMA = "units long, problem string"
"""Schema of the reports of a task, with the fields of `PieceAnswered`."""


def predict_with_spark(options: PredictOptions) -> Predicted:
    """Predict piece by piece in the active Spark session, or in a new one."""

    def answer_all(predictor: PiecePredictor, pieces: Sequence[Piece]) -> Iterator[PieceAnswered]:
        session, started = start_spark(options.workers or DEFAULT_WORKERS, options.address)
        try:
            numbers = session.range(0, len(pieces), 1, len(pieces))  # a partition per piece
            work = partial(_answer_pieces, predictor=predictor, pieces=pieces)
            for row in collect_rows(numbers.mapInArrow(work, REPORT_SCHEMA)).to_pylist():
                yield PieceAnswered(**row)
        finally:
            if started:
                session.stop()

    return predict_pieces(options, answer_all)


def _answer_pieces(batches: Batches, *, predictor: PiecePredictor, pieces: Sequence[Piece]) -> Batches:
    """Answer the pieces of a partition, in a Spark worker."""
    for batch in batches:
        for number in batch.column("id").to_pylist():
            report = asdict(predictor.answer(pieces[number]))
            yield pa.record_batch(
                {
                    "units": pa.array([report["units"]], pa.int64()),
                    "problem": pa.array([report["problem"]], pa.string()),
                }
            )


def prediction_udf(run: str | Path, *, student: bool = False, calibrated: bool = True) -> Any:
    """Return a pandas UDF of Spark that answers a column of texts with a saved run.

    The answers equal those of `crowdlogic predict`. For documents, the UDF returns a struct of label, confidence and
    p_<class> columns; for taggers, of tokens, tags and confidence, all of which are arrays. A null text has a null
    answer.

    Args:
        run: The folder of the run, which all machines must see at the same path.
        student: Whether to use the classifier alone, without the rules.
        calibrated: Whether to return calibrated probabilities.
    """
    folder = str(Path(run).resolve())
    opened = load_run(folder)
    if not student:
        refuse_related_items(opened, "spark")
    options = PredictOptions(run=folder, items="", out="", student=student, calibrated=calibrated)
    if opened.estimate.offsets is not None:
        schema = "tokens array<string>, tags array<string>, confidence array<double>"
    else:
        names = (str(name).replace("`", "``") for name in opened.estimate.classes)
        schema = ", ".join(["label string", "confidence double", *(f"`p_{name}` double" for name in names)])

    def answer_texts(batches: Iterator[Any]) -> Iterator[Any]:
        """Answer series of texts, in a Spark worker."""
        import pandas as pd

        loaded = load_run_once(folder)
        for texts in batches:
            known = texts.notna().to_numpy().nonzero()[0].tolist()
            corpus = to_corpus(texts.iloc[known].astype(str).tolist(), sequential=loaded.estimate.offsets is not None)
            table = answers_table(answer_items(loaded, corpus, options), corpus).drop("item")
            if "label" in table.columns:
                table = table.with_columns(as_text(table["label"]).alias("label"))
            columns = {}
            for name in table.columns:
                values = dict(zip(known, table[name].to_list(), strict=True))
                columns[name] = [values.get(row) for row in range(len(texts))]  # None where there is no text
            yield pd.DataFrame(columns)

    answer_texts.__annotations__ = _udf_annotations()
    return pandas_udf(answer_texts, schema)


def _udf_annotations() -> dict[str, Any]:
    """Return the type hints by which Spark knows the kind of the UDF; pandas is only imported when needed."""
    import pandas as pd

    return {"batches": Iterator[pd.Series], "return": Iterator[pd.DataFrame]}
