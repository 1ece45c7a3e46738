"""A transformer's run as a folder of Hugging Face's: the Auto classes load it, and it answers as ours does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.classifiers.tiny_bert import write_tiny_bert
from tests.extensions.networks.small_runs import new_sentences, new_texts, train_reviews, train_tags

from crowdlogic import Linear
from crowdlogic.errors import OptionError
from crowdlogic.extensions.networks.export import export_run

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")


def make_transformer(folder: Path, **options: Any) -> Any:
    from crowdlogic.extensions.networks import Transformer

    folder.mkdir()
    words = {word.lower() for text in new_texts(100) for word in text.split() if word.isalpha()}
    write_tiny_bert(folder, sorted(words), places=256)
    return Transformer(folder=folder, max_length=200, **options)


def test_documents(tmp_path: Path) -> None:
    run = train_reviews(tmp_path / "run", make_transformer(tmp_path / "bert"))
    export_run(tmp_path / "run", tmp_path / "out", to="hf")
    texts = new_texts(1000)

    model = transformers.AutoModelForSequenceClassification.from_pretrained(tmp_path / "out").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    encoded = tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
    inputs = {name: encoded[name] for name in ("input_ids", "attention_mask")}
    with torch.inference_mode():
        found = model(**inputs).logits.softmax(dim=-1).numpy()

    assert model.config.id2label == {k: str(name) for k, name in enumerate(run.estimate.classes)}
    np.testing.assert_allclose(found, run.predict(texts, student=True, calibrated=False), rtol=0, atol=1e-5)


def test_tokens(tmp_path: Path) -> None:
    run = train_tags(tmp_path / "run", make_transformer(tmp_path / "bert"))
    export_run(tmp_path / "run", tmp_path / "out", to="hf")
    sentences = new_sentences(1000)

    model = transformers.AutoModelForTokenClassification.from_pretrained(tmp_path / "out").eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    short = [tokens for tokens in sentences if len(tokenizer(tokens, is_split_into_words=True)["input_ids"]) <= 200]
    encoded = tokenizer(short, is_split_into_words=True, padding=True, return_tensors="pt")
    inputs = {name: encoded[name] for name in ("input_ids", "attention_mask")}
    with torch.inference_mode():
        p = model(**inputs).logits.softmax(dim=-1).numpy()
    firsts = []
    for s in range(len(short)):
        words = encoded.word_ids(s)
        firsts += [p[s, t] for t, word in enumerate(words) if word is not None and word != words[t - 1]]

    assert len(short) == 1000
    assert model.config.id2label[0] == str(run.estimate.classes[0])
    np.testing.assert_allclose(np.array(firsts), run.predict(short, student=True, calibrated=False), rtol=0, atol=1e-5)


def test_what_is_no_transformer_or_has_another_head_is_refused(tmp_path: Path) -> None:
    train_reviews(tmp_path / "linear", Linear())
    train_reviews(tmp_path / "mean", make_transformer(tmp_path / "bert", pooling="mean"))

    with pytest.raises(OptionError, match=r"a linear classifier is not a transformer\. Export it as an ONNX model"):
        export_run(tmp_path / "linear", tmp_path / "out", to="hf")
    with pytest.raises(OptionError, match=r"transformers has no head with a mean over all positions"):
        export_run(tmp_path / "mean", tmp_path / "out", to="hf")
