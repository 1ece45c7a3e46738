from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.extensions.networks.small_runs import new_texts, train_numbers, train_reviews, train_tags

from crowdlogic import Linear
from crowdlogic.errors import OptionError
from crowdlogic.extensions.networks import KimCNN


def test_a_run_is_a_fitted_pipeline(tmp_path: Path) -> None:
    run, texts = train_reviews(tmp_path / "run", Linear()), new_texts(1000)

    pipeline = run.to_sklearn()

    np.testing.assert_allclose(
        pipeline.predict_proba(texts), run.predict(texts, student=True, calibrated=False), rtol=0, atol=1e-9
    )
    assert pipeline.predict(texts).tolist() == run.predict_labels(texts, student=True)


def test_three_classes_of_numbers(tmp_path: Path) -> None:
    from crowdlogic.data.corpus import documents

    run, features = train_numbers(tmp_path / "run", Linear()), np.random.default_rng(1).normal(size=(1000, 4))

    found = run.to_sklearn().predict_proba(features)

    np.testing.assert_allclose(
        found, run.predict(documents(range(1000), features=features), calibrated=False), rtol=0, atol=1e-9
    )


def test_other_models_are_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="this run has a NeuralClassifier"):
        train_reviews(tmp_path / "kim", KimCNN(filters=2, vector_size=4)).to_sklearn()
    with pytest.raises(OptionError, match="this run tags tokens"):
        train_tags(tmp_path / "tags", Linear()).to_sklearn()
