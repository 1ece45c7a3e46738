"""Every classifier as an ONNX model: the same probabilities on 1,000 items, by the reader that goes with the model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.extensions.networks.small_runs import (
    CONTRAST,
    GRAMMAR,
    new_sentences,
    new_texts,
    train_numbers,
    train_reviews,
    train_tags,
)

from crowdlogic import CRF, Linear, load_run
from crowdlogic.classifiers import Scikit
from crowdlogic.errors import OptionError
from crowdlogic.extensions.networks import CNNGRU, MLP, KimCNN
from crowdlogic.extensions.networks.export import export_run
from crowdlogic.extensions.networks.runtime import Predictor

ATOL = 1e-5
TEXTS = [(Linear(), None), (Linear(), CONTRAST), (KimCNN(filters=12, vector_size=10), None)]
TAGS = [
    (Linear(), None),
    (CRF(), None),
    (CNNGRU(filters=16, hidden_size=6, vector_size=10), None),
    (CNNGRU(filters=16, hidden_size=6, vector_size=10, bidirectional=True, shape_size=3, case_sensitive=True), None),
    (CRF(), GRAMMAR),
    (CNNGRU(filters=16, hidden_size=6, vector_size=10), GRAMMAR),
]


@pytest.mark.parametrize(("classifier", "rules"), TEXTS, ids=["linear", "linear with rules", "kim-cnn"])
def test_texts(tmp_path: Path, classifier: object, rules: str | None) -> None:
    train_reviews(tmp_path / "run", classifier, rules)
    exported = export_run(tmp_path / "run", tmp_path / "out", to="onnx")

    model, texts = Predictor(tmp_path / "out"), new_texts()

    np.testing.assert_allclose(
        model.predict_proba(texts),
        load_run(tmp_path / "run").predict(texts, student=True, calibrated=False),
        rtol=0,
        atol=ATOL,
    )
    assert model.predict(texts) == load_run(tmp_path / "run").predict_labels(texts, student=True)
    assert bool(exported.notices) == (rules is not None)
    assert len(model.predict_proba([])) == 0


@pytest.mark.parametrize(
    ("classifier", "rules"), TAGS, ids=lambda value: getattr(value, "name", "rules" if value else "")
)
def test_tags(tmp_path: Path, classifier: object, rules: str | None) -> None:
    run = train_tags(tmp_path / "run", classifier, rules)
    export_run(tmp_path / "run", tmp_path / "out", to="onnx")

    model, sentences = Predictor(tmp_path / "out"), new_sentences()

    assert model.manifest["predictor"] == ("student" if rules is None else "teacher")
    np.testing.assert_allclose(
        np.concatenate(model.predict_proba(sentences)), run.predict(sentences, calibrated=False), rtol=0, atol=ATOL
    )


@pytest.mark.parametrize("classifier", [Linear(), MLP(hidden_size=5)], ids=["linear", "mlp"])
def test_numbers(tmp_path: Path, classifier: object) -> None:
    run = train_numbers(tmp_path / "run", classifier)
    export_run(tmp_path / "run", tmp_path / "out", to="onnx")
    from crowdlogic.data.corpus import documents

    features = np.random.default_rng(1).normal(size=(1000, 4))

    found = Predictor(tmp_path / "out").predict_proba(features)

    np.testing.assert_allclose(
        found, run.predict(documents(range(1000), features=features), calibrated=False), rtol=0, atol=ATOL
    )


def test_the_reader_needs_nothing_of_ours(tmp_path: Path) -> None:
    train_reviews(tmp_path / "run", Linear())
    export_run(tmp_path / "run", tmp_path / "out", to="onnx")
    texts = ["a wonderful film", "dull , but short"]
    code = "import sys; sys.modules['crowdlogic'] = None; import runpy; runpy.run_path(sys.argv.pop(1), run_name='__main__')"

    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "out" / "predict.py"), str(tmp_path / "out")],
        input="\n".join(texts) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.split() == [str(name) for name in load_run(tmp_path / "run").predict_labels(texts)]


def test_the_manifest_says_what_the_model_expects(tmp_path: Path) -> None:
    train_tags(tmp_path / "run", CRF(), GRAMMAR)
    export_run(tmp_path / "run", tmp_path / "out", to="onnx")

    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())

    assert manifest["task"] == "tagging"
    assert manifest["preprocessing"] == {"kind": "hashed", "max_ngram": 2, "hash_bits": 18}
    assert len(manifest["decoding"]["chain"]["transitions"]) == len(manifest["classes"])
    # what the hard rule forbids is null: I-ORG after a tag that is not an ORG's
    classes = manifest["classes"]
    assert manifest["decoding"]["rules"]["transitions"][classes.index("O")][classes.index("I-ORG")] is None
    assert "I-PER" in manifest["rules"]


def test_what_cannot_be_exported_says_so(tmp_path: Path) -> None:
    train_reviews(tmp_path / "run", Scikit())

    with pytest.raises(OptionError) as refused:
        export_run(tmp_path / "run", tmp_path / "out", to="onnx")

    assert str(refused.value) == (
        f"{tmp_path / 'run'}: a scikit classifier cannot be exported to ONNX; supported are linear, crf, kim-cnn, cnn-gru, mlp. "
        f"Export a transformer to Hugging Face's format: --to hf."
    )
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_chains_of_tags_are_refused(tmp_path: Path) -> None:
    train_tags(tmp_path / "run", CNNGRU(filters=4, hidden_size=4, vector_size=4, chain=True))

    with pytest.raises(OptionError) as refused:
        export_run(tmp_path / "run", tmp_path / "out", to="onnx")

    assert str(refused.value) == (
        f"{tmp_path / 'run'}: the cnn-gru classifier predicts chains of tags (chain = true), which the ONNX export does not "
        f"support. Train without it, or predict with crowdlogic."
    )
