"""The transformer against a plain use of Hugging Face's own classes, one text at a time."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tests.classifiers.planted_tasks import BAD, GOOD, NAMES, OTHERS
from tests.classifiers.tiny_bert import write_tiny_bert

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.data.corpus import documents, sentences  # noqa: E402
from crowdlogic.errors import (  # noqa: E402
    CorpusError,
    FormatError,
    MissingDataError,
    MissingExtraError,
    OptionError,
)
from crowdlogic.extensions.networks.network import NO_UNIT  # noqa: E402
from crowdlogic.extensions.networks.transformer import Transformer, import_transformers  # noqa: E402

if find_spec("transformers"):
    import transformers
needs_transformers = pytest.mark.skipif(
    not find_spec("transformers"), reason="transformers is not installed: pip install crowdlogic[hf]"
)

TEXTS = ["the film", "", "a fine cast with a dull plot and its poor scene , unbelievable !", "Grand"]
SAID = [["the", "unfilmed", "cast"], [], ["Ann", "\u4e2d", "", "sees"], ["a"] * 9]


def test_the_package_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)

    with pytest.raises(MissingExtraError) as caught:
        import_transformers()

    assert str(caught.value) == (
        "The transformer needs the package transformers, which is not installed: pip install crowdlogic[hf]"
    )


def test_a_folder_that_is_not_there_is_refused() -> None:
    with pytest.raises(MissingDataError) as caught:
        Transformer("bert-base-uncased").build(documents([0], ["a"]), ("x", "y"), seed=0)

    assert str(caught.value) == (
        "bert-base-uncased: folder not found. Give a folder with a model (as written by save_pretrained), or the name of a "
        "packaged encoder: all-minilm-l6-v2."
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"pooling": "last"}, "transformer: pooling: expected one of first, mean, convolution; got 'last'."),
        ({"precision": "half"}, "transformer: precision: expected one of auto, float32, bfloat16; got 'half'."),
        ({"frozen_layers": -1}, "transformer: layers and frozen_layers must be at least 0."),
        ({"layers": -1}, "transformer: layers and frozen_layers must be at least 0."),
        ({"windows": ()}, "transformer: windows and filters must be at least 1."),
        ({"max_length": 2}, "transformer: max_length must be at least 3 and dropout in [0, 1)."),
        ({"dropout": 1.0}, "transformer: max_length must be at least 3 and dropout in [0, 1)."),
    ],
)
def test_senseless_options_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        Transformer("folder", **wrong)

    assert str(caught.value) == message


def test_items_without_words_are_refused(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="transformer needs texts, but the items have features"):
        Transformer(tmp_path).build(documents([0], features=np.ones((1, 2))), ("x", "y"), seed=0)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tiny_bert(tmp_path, (*OTHERS, *GOOD, *BAD, *(name.lower() for name in NAMES)))


def answers(folder: Path, **given: object) -> torch.Tensor:
    """What the model says at every piece of one text or sentence."""
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        return model(**given).last_hidden_state[0]


def beliefs(made, said: torch.Tensor) -> np.ndarray:
    return torch.softmax(made.network.output(said), dim=-1).detach().numpy()


@needs_transformers
@pytest.mark.parametrize("pool", ["first", "mean"])
def test_documents_are_judged_as_hugging_face_s_own_model_sees_them(folder: Path, pool: str) -> None:
    corpus = documents(range(len(TEXTS)), TEXTS)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    made = Transformer(folder, pooling=pool).build(corpus, ("neg", "pos"), seed=0)

    p = made.predict_proba(corpus)

    for s, text in enumerate(TEXTS):
        said = answers(folder, **tokenizer(text, return_tensors="pt", truncation=True, max_length=32))
        np.testing.assert_allclose(p[s], beliefs(made, said[0] if pool == "first" else said.mean(dim=0)), atol=1e-6)


@needs_transformers
def test_tokens_are_judged_by_their_first_piece(folder: Path) -> None:
    corpus = sentences(range(len(SAID)), SAID)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    made = Transformer(folder).build(corpus, ("O", "X", "Y"), seed=0)

    p = made.predict_proba(corpus)

    begin = 0
    for words in (SAID[0], [word or "[UNK]" for word in SAID[2]], SAID[3]):
        given = tokenizer(words, is_split_into_words=True, return_tensors="pt")
        first = [given.word_ids().index(t) for t in range(len(words))]
        expected = beliefs(made, answers(folder, **given)[first])
        np.testing.assert_allclose(p[begin : begin + len(words)], expected, atol=1e-6)
        begin += len(words)
    assert begin == len(p)


@needs_transformers
def test_a_long_sentence_is_read_in_parts_between_its_tokens(folder: Path) -> None:
    """Room for four pieces: dullishness is eight, and is cut to them; the other tokens stay whole."""
    words = ["the", "plots", "a", "dullishness", "film", "of", "a", "cast"]
    corpus = sentences([0], [words])
    made = Transformer(folder, max_length=6).build(corpus, ("O", "X"), seed=0)

    inputs = made.inputs(corpus)
    p = made.predict_proba(corpus)

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    pieces = tokenizer.convert_ids_to_tokens(inputs.rows[0].tolist())
    parts = [pieces[b:e] for b, e in zip(inputs.offsets[:-1], inputs.offsets[1:], strict=True)]
    assert parts == [
        ["[CLS]", "the", "plot", "##s", "a", "[SEP]"],
        ["[CLS]", "dull", "##i", "##s", "##h", "[SEP]"],
        ["[CLS]", "film", "of", "a", "cast", "[SEP]"],
    ]
    assert inputs.units.tolist().count(NO_UNIT) == len(pieces) - len(words)
    first = [pieces[place] for place in np.flatnonzero(inputs.units != NO_UNIT)]
    assert first == ["the", "plot", "a", "dull", "film", "of", "a", "cast"]
    np.testing.assert_array_equal(inputs.units[inputs.units != NO_UNIT], np.arange(len(words)))
    given = torch.tensor([tokenizer.convert_tokens_to_ids(parts[-1])])
    np.testing.assert_allclose(p[4:], beliefs(made, answers(folder, input_ids=given)[1:5]), atol=1e-6)


@needs_transformers
def test_a_long_document_is_cut_off_where_the_model_ends(folder: Path) -> None:
    long, cut = " ".join(["film"] * 50), " ".join(["film"] * 30)  # 32 places, two of them marks
    made = Transformer(folder).build(documents([0], [long]), ("x", "y"), seed=0)

    p = made.predict_proba(documents(range(3), [long, cut, cut[:-5]]))

    np.testing.assert_allclose(p[0], p[1], rtol=0, atol=1e-7)
    assert np.abs(p[1] - p[2]).max() > 1e-6


@needs_transformers
def test_the_folder_is_not_needed_to_load(folder: Path, tmp_path: Path) -> None:
    corpus = documents(range(len(TEXTS)), TEXTS)
    made = Transformer(folder).build(corpus, ("x", "y"), seed=0)
    made.fit_epoch(corpus, np.full((4, 2), 0.5))

    loaded = Transformer(tmp_path / "gone").load(made.arrays(), ("x", "y"))

    np.testing.assert_array_equal(loaded.predict_proba(corpus), made.predict_proba(corpus))
    assert str(folder) not in bytes(made.arrays()["fixed.config"]).decode()


@needs_transformers
def test_only_the_layer_on_top_is_trained_when_asked(folder: Path) -> None:
    corpus = documents(range(len(TEXTS)), TEXTS)
    made = Transformer(folder, fine_tune=False, dropout=0.0).build(corpus, ("x", "y"), seed=0)
    before = {name: tensor.clone() for name, tensor in made.network.encoder.state_dict().items()}

    losses = [made.fit_epoch(corpus, np.eye(2)[[0, 0, 1, 1]]) for _ in range(3)]

    assert all(torch.equal(before[name], tensor) for name, tensor in made.network.encoder.state_dict().items())
    assert losses[2] < losses[0]
    assert {name for name in made.arrays() if name.startswith("model.")} == {"model.output.weight", "model.output.bias"}
    loaded = Transformer(folder, fine_tune=False).load(made.arrays(), ("x", "y"))
    np.testing.assert_array_equal(loaded.predict_proba(corpus), made.predict_proba(corpus))


@needs_transformers
def test_no_code_that_comes_with_a_model_is_run(folder: Path) -> None:
    marker = folder / "was_run"
    (folder / "evil.py").write_text(f"open({str(marker)!r}, 'w').close()\nclass Evil: ...\n")
    config = json.loads((folder / "config.json").read_text())
    config |= {"auto_map": {"AutoModel": "evil.Evil", "AutoConfig": "evil.Evil", "AutoTokenizer": ["evil.Evil", None]}}
    (folder / "config.json").write_text(json.dumps(config))

    made = Transformer(folder).build(documents([0], ["a film"]), ("x", "y"), seed=0)

    assert made.predict_proba(documents([0], ["a film"])).shape == (1, 2)
    assert not marker.exists()


@needs_transformers
def test_weights_that_are_not_safetensors_are_refused(folder: Path) -> None:
    model = transformers.AutoModel.from_pretrained(folder)
    torch.save(model.state_dict(), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()

    with pytest.raises(FormatError, match="cannot load the transformer"):
        Transformer(folder).build(documents([0], ["a"]), ("x", "y"), seed=0)


@needs_transformers
def test_nothing_is_printed(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    transformers.utils.logging.enable_progress_bar()
    level = transformers.utils.logging.get_verbosity()

    Transformer(folder).build(documents([0], ["a"]), ("x", "y"), seed=0)

    assert capfd.readouterr() == ("", "")
    assert transformers.utils.logging.is_progress_bar_enabled()
    assert transformers.utils.logging.get_verbosity() == level


@needs_transformers
def test_arrays_of_another_kind_are_refused(folder: Path) -> None:
    with pytest.raises(FormatError, match=r"not from a transformer: fixed.config is missing"):
        Transformer(folder).load({}, ("x", "y"))


@needs_transformers
def test_length_must_leave_room_for_words(tmp_path: Path) -> None:
    folder = write_tiny_bert(tmp_path, OTHERS, places=2)

    with pytest.raises(OptionError, match="2 pieces leave no room for words"):
        Transformer(folder).build(documents([0], ["a"]), ("x", "y"), seed=0)
