"""A transformer whose lower layers are frozen: the same answers, only the upper layers learn, states are kept."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from tests.classifiers.planted_tasks import BAD, GOOD, OTHERS
from tests.classifiers.tiny_bert import write_tiny_bert

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.data.corpus import documents, sentences  # noqa: E402
from crowdlogic.errors import OptionError  # noqa: E402
from crowdlogic.extensions.networks import transformer_network  # noqa: E402
from crowdlogic.extensions.networks.network import make_batch, word_inputs  # noqa: E402
from crowdlogic.extensions.networks.transformer import Transformer  # noqa: E402
from crowdlogic.extensions.networks.transformer_network import (  # noqa: E402
    SPLITTABLE_MODELS,
    StateCache,
    TransformerNetwork,
    has_brain_floats,
)

if find_spec("transformers"):
    import transformers
pytestmark = pytest.mark.skipif(
    not find_spec("transformers"), reason="transformers is not installed: pip install crowdlogic[hf]"
)

TEXTS = ["the film", "", "a fine cast with a dull plot and its poor scene , unbelievable !", "Grand"]
CORPUS = documents(range(len(TEXTS)), TEXTS)
TARGETS = np.eye(2)[[0, 0, 1, 1]]
CPU = torch.device("cpu")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_tiny_bert(tmp_path, (*OTHERS, *GOOD, *BAD))


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch) -> StateCache:
    made = StateCache()
    monkeypatch.setattr(transformer_network, "CACHE", made)
    return made


def make_network(model_type: str, frozen_layers: int) -> TransformerNetwork:
    """A random transformer of four tiny layers."""
    config = transformers.AutoConfig.for_model(
        model_type, hidden_size=8, num_hidden_layers=4, num_attention_heads=2, intermediate_size=16, vocab_size=30,
        max_position_embeddings=20, pad_token_id=1,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        encoder = transformers.AutoModel.from_config(config)
        return TransformerNetwork(encoder, 2, Transformer(frozen_layers=frozen_layers, pooling="mean"))


@pytest.mark.parametrize("model_type", SPLITTABLE_MODELS)
def test_lower_and_upper_layers_make_the_whole(model_type: str) -> None:
    rows = np.random.default_rng(0).integers(2, 30, size=(1, 12))
    inputs = word_inputs(np.array([0, 3, 4, 12]), rows)
    whole, divided = make_network(model_type, 0).eval(), make_network(model_type, 3).eval()
    order = np.array([2, 0, 1])

    expected = whole(make_batch(inputs, order, CPU)[0])
    computed = divided(make_batch(inputs, order, CPU)[0])
    kept = divided(make_batch(divided.with_states(inputs), order, CPU)[0])

    torch.testing.assert_close(computed, expected, atol=1e-6, rtol=0)
    torch.testing.assert_close(kept, expected, atol=1e-6, rtol=0)
    assert list(whole.state_dict()) == list(divided.state_dict())


def test_a_convolution_is_torch_s_own_over_the_states_of_one_text(folder: Path) -> None:
    """With so much padding around that each filter also sees its text come and go."""
    made = Transformer(folder, pooling="convolution", windows=(2, 3), filters=4).build(CORPUS, ("x", "y"), seed=0)
    network = made.network
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    slices = network.filters.weight.detach().split([2 * 4, 3 * 4])

    p = made.predict_proba(CORPUS)

    for s, text in enumerate(TEXTS):
        with torch.inference_mode():
            hidden = network.encoder(**tokenizer(text, return_tensors="pt")).last_hidden_state[0]
            padded = torch.nn.functional.pad(hidden.T[None], (2, 2))
            found = [
                torch.conv1d(padded, weight.view(width, 4, -1).permute(1, 2, 0))[0].amax(dim=1)
                for width, weight in zip((2, 3), slices, strict=True)
            ]
            pooled = torch.relu(torch.cat(found) + network.filters.bias)
            expected = network.output(pooled).softmax(dim=-1)
        np.testing.assert_allclose(p[s], expected.numpy(), atol=1e-6)


def test_a_convolution_learns_on_frozen_states_and_is_saved(folder: Path) -> None:
    options = Transformer(folder, pooling="convolution", filters=8, fine_tune=False, dropout=0.0)
    made = options.build(CORPUS, ("x", "y"), seed=0)

    losses = [made.fit_epoch(CORPUS, TARGETS) for _ in range(5)]

    assert losses[4] < losses[0]
    assert {name for name in made.arrays() if name.startswith("model.")} == {
        "model.filters.weight", "model.filters.bias", "model.output.weight", "model.output.bias"
    }  # fmt: skip
    loaded = options.load(made.arrays(), ("x", "y"))
    np.testing.assert_array_equal(loaded.predict_proba(CORPUS), made.predict_proba(CORPUS))


def test_some_of_the_layers_give_the_states_in_between(folder: Path) -> None:
    made = Transformer(folder, layers=1).build(CORPUS, ("x", "y"), seed=0)
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()

    p = made.predict_proba(CORPUS)

    with torch.inference_mode():
        states = model(**tokenizer(TEXTS[2], return_tensors="pt"), output_hidden_states=True).hidden_states[1][0, 0]
        np.testing.assert_allclose(p[2], made.network.output(states).softmax(dim=-1).numpy(), atol=1e-6)
    loaded = Transformer(layers=1).load(made.arrays(), ("x", "y"))
    np.testing.assert_array_equal(loaded.predict_proba(CORPUS), p)


def test_more_layers_than_there_are_cannot_be_used(folder: Path) -> None:
    with pytest.raises(OptionError) as caught:
        Transformer(folder, layers=3).build(CORPUS, ("x", "y"), seed=0)

    assert str(caught.value) == "transformer: layers is 3, but the model has 2. Use fewer, or 0."


def test_only_the_upper_layers_learn(folder: Path) -> None:
    made = Transformer(folder, frozen_layers=1).build(CORPUS, ("x", "y"), seed=0)
    before = {name: tensor.clone() for name, tensor in made.network.state_dict().items()}

    losses = [made.fit_epoch(CORPUS, TARGETS) for _ in range(3)]

    changed = {name for name, tensor in made.network.state_dict().items() if not torch.equal(before[name], tensor)}
    assert losses[2] < losses[0]
    assert changed >= {"encoder.encoder.layer.1.output.dense.weight", "output.weight"}
    assert not [name for name in changed if ".embeddings." in name or ".layer.0." in name]
    assert not [name for name in made.arrays() if name.startswith("model.encoder.embeddings")]


def test_training_is_the_same_with_and_without_kept_states(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def train(limit: int) -> np.ndarray:
        monkeypatch.setattr(transformer_network, "CACHE", StateCache(limit))
        made = Transformer(folder, frozen_layers=1).build(CORPUS, ("x", "y"), seed=0)
        made.fit_epoch(CORPUS, TARGETS)
        assert (made.inputs(CORPUS).states is None) == (limit == 0)
        return made.predict_proba(CORPUS)

    np.testing.assert_allclose(train(2**20), train(0), atol=1e-6)


def test_states_are_shared_by_classifiers_with_the_same_frozen_weights(folder: Path, cache: StateCache) -> None:
    first, second = (Transformer(folder, frozen_layers=1).build(CORPUS, ("x", "y"), seed=seed) for seed in (0, 1))
    other = Transformer(folder, fine_tune=False).build(CORPUS, ("x", "y"), seed=0)
    first.fit_epoch(CORPUS, TARGETS)

    again = documents(range(4), TEXTS)

    assert first.inputs(CORPUS).states is second.inputs(again).states
    assert other.inputs(CORPUS).states is not first.inputs(CORPUS).states
    assert cache.size == 2 * first.inputs(CORPUS).states.nbytes


def test_a_saved_state_answers_alike(folder: Path) -> None:
    made = Transformer(folder, frozen_layers=1).build(CORPUS, ("x", "y"), seed=0)
    made.fit_epoch(CORPUS, TARGETS)

    loaded = Transformer(frozen_layers=1).load(made.arrays(), ("x", "y"))

    np.testing.assert_array_equal(loaded.predict_proba(CORPUS), made.predict_proba(CORPUS))


def test_tokens_have_states_too(folder: Path) -> None:
    corpus = sentences([0, 1], [["the", "unfilmed", "cast"], ["a"] * 9])
    whole, divided = (
        Transformer(folder, frozen_layers=n).build(corpus, ("O", "X", "Y"), seed=0).predict_proba(corpus)
        for n in (0, 1)
    )

    np.testing.assert_allclose(divided, whole, atol=1e-6)


def test_shorter_numbers_answer_nearly_alike(folder: Path) -> None:
    exact, short = (
        Transformer(folder, precision=name).build(CORPUS, ("x", "y"), seed=0) for name in ("float32", "bfloat16")
    )

    p = short.predict_proba(CORPUS)

    assert 0 < np.abs(p - exact.predict_proba(CORPUS)).max() < 0.02
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    assert np.isfinite(short.fit_epoch(CORPUS, TARGETS))


def test_no_short_numbers_where_the_device_has_none() -> None:
    assert not has_brain_floats(torch.device("meta"))


def test_what_cannot_be_divided_is_refused(folder: Path) -> None:
    with pytest.raises(OptionError) as too_many:
        Transformer(folder, frozen_layers=2).build(CORPUS, ("x", "y"), seed=0)
    with pytest.raises(OptionError) as other:
        make_network("mpnet", 1)

    assert str(too_many.value) == (
        "transformer: frozen_layers: 2 of 2 layers leave none to train. Freeze fewer, or train only the output layer: "
        "fine_tune = false."
    )
    assert str(other.value) == (
        "transformer: frozen_layers needs one of bert, camembert, ernie, roberta, xlm-roberta, got mpnet. Use 0."
    )
