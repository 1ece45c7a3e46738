"""The pre-trained encoder of a package, end to end: meaning, training from labels, a run, its export, without network."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from crowdlogic.extensions.networks.transformer import DEFAULT_ENCODER, ENCODERS

MISSING = [name for name in ("torch", "transformers", ENCODERS[DEFAULT_ENCODER].module) if not find_spec(name)]
pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {MISSING}: pip install crowdlogic[encoder]"),
]

GOOD = [
    "a wonderful film", "i loved every minute of it", "a brilliant and moving story", "the cast is superb",
    "an excellent, funny comedy", "a joy to watch", "beautifully acted and directed", "a great success",
]  # fmt: skip
BAD = [
    "a terrible film", "i hated every minute of it", "a dull and lifeless story", "the cast is awful",
    "a boring, unfunny comedy", "painful to watch", "badly acted and directed", "a complete failure",
]  # fmt: skip
TEXTS = [*GOOD, *BAD]
NEW = ["a delightful picture", "a dreadful picture", "magnificent acting", "atrocious acting"]


def test_sentences_of_like_meaning_are_near() -> None:
    import torch

    from crowdlogic.data.corpus import documents
    from crowdlogic.extensions.networks.network import make_batch
    from crowdlogic.extensions.networks.transformer import Transformer

    corpus = documents(range(3), ["A cat sits on the mat.", "There is a kitten on the rug.", "Shares fell by a tenth."])
    made = Transformer(pooling="mean").build(corpus, ("x", "y"), seed=0)

    batch, units = make_batch(made.inputs(corpus), np.arange(3), torch.device("cpu"))
    with torch.inference_mode():
        vectors = made.network.eval().pool(made.network.hidden(batch), batch).numpy()[units]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)

    likeness = vectors @ vectors.T
    assert likeness[0, 1] > 0.5
    assert abs(likeness[0, 2]) < 0.2


def test_some_labels_teach_it_what_words_never_seen_mean(tmp_path: Path) -> None:
    from crowdlogic.data.corpus import documents
    from crowdlogic.data.frames import from_dict
    from crowdlogic.extensions.networks.export import export_run
    from crowdlogic.extensions.networks.network import Training
    from crowdlogic.extensions.networks.transformer import Transformer
    from crowdlogic.learning.algorithm import LogicLNCL
    from crowdlogic.learning.saved_run import load_run
    from crowdlogic.learning.stopping import TrainingLimits

    labels = from_dict({i: dict.fromkeys("ab", "pos" if i < len(GOOD) else "neg") for i in range(len(TEXTS))})
    encoder = Transformer(frozen_layers=2, training=Training("adamw", learning_rate=3e-4, batch_size=8))
    method = LogicLNCL(encoder, limits=TrainingLimits(epochs=8, held_out=None))

    method.fit(documents(range(len(TEXTS)), TEXTS), labels, save=tmp_path / "run")

    run = load_run(tmp_path / "run")
    p = run.classifier.predict_proba(documents(range(4), NEW))
    assert p.argmax(axis=1).tolist() == [1, 0, 1, 0]
    export_run(tmp_path / "run", tmp_path / "folder", to="hf")
    np.testing.assert_allclose(answers_of_transformers(tmp_path / "folder"), p, atol=1e-5)


def answers_of_transformers(folder: Path) -> np.ndarray:
    """What transformers itself says of the new texts with an exported model."""
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder).eval()
    assert model.config.id2label == {0: "neg", 1: "pos"}
    tokenizer = AutoTokenizer.from_pretrained(folder)
    with torch.inference_mode():
        return model(**tokenizer(NEW, padding=True, return_tensors="pt")).logits.softmax(dim=-1).numpy()
