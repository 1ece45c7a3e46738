"""Kim's network against a plain one of torch's own convolutions, one sentence at a time."""

from __future__ import annotations

import numpy as np
import pytest
from tests.classifiers.planted_tasks import OTHERS, random_vectors, review_task

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.data.corpus import documents, sentences  # noqa: E402
from crowdlogic.data.vectors import WordVectors  # noqa: E402
from crowdlogic.errors import CorpusError, OptionError  # noqa: E402
from crowdlogic.extensions.networks.kim_cnn import KimCNN, KimNetwork  # noqa: E402
from crowdlogic.extensions.networks.network import Training  # noqa: E402
from crowdlogic.extensions.networks.word_network import tokenize_kim  # noqa: E402

TEXTS = [
    "the plot of a film",
    "",
    "a",
    "the cast , the plot and the scene of the film with its cast",
    "zzz unknown",
    "its a",
]


def slow_logits(network: KimNetwork, rows: list[int]) -> torch.Tensor:
    """[KIM14], word for word: pad, convolve, relu, greatest over time, output."""
    windows, count = network.filters.windows, network.filters.count
    vectors = torch.cat([network.embedding.own, network.embedding.rest]).detach()
    reach, size = max(windows) - 1, network.embedding.size
    sentence = torch.zeros(1, size, len(rows) + 2 * reach)
    for t, row in enumerate(rows):
        sentence[0, :, reach + t] = vectors[row]
    pooled, begin = [], 0
    for number, width in enumerate(windows):
        conv = torch.nn.Conv1d(size, count, width)
        with torch.no_grad():
            for under in range(width):
                conv.weight[:, :, under] = network.filters.weight[begin : begin + count]
                begin += count
            conv.bias.copy_(network.filters.bias[number * count : (number + 1) * count])
        fits = sentence.shape[2] >= width  # nothing answers where there is no place for a filter
        pooled.append(torch.relu(conv(sentence)).amax(dim=2) if fits else torch.zeros(1, count))
    return network.output(torch.cat(pooled, dim=1))[0]


@pytest.mark.parametrize("windows", [(3, 4, 5), (1,), (2, 7), (4, 2)])
@pytest.mark.parametrize("tuned", [True, False])
def test_forward_is_that_of_plain_convolutions_on_single_sentences(windows: tuple[int, ...], tuned: bool) -> None:
    corpus = documents(range(len(TEXTS)), TEXTS)
    options = KimCNN(vectors=random_vectors(OTHERS, 6), windows=windows, filters=4, tune_vectors=tuned)
    made = options.build(
        documents(range(2), TEXTS[:2]), ("neg", "pos"), seed=0
    )  # later texts have words beyond its own

    p = made.predict_proba(corpus)

    said = made.inputs(corpus)
    for s in range(len(TEXTS)):
        rows = said.rows[0, said.offsets[s] : said.offsets[s + 1]].tolist()
        expected = torch.softmax(slow_logits(made.network, rows), dim=0).detach().numpy()
        np.testing.assert_allclose(p[s], expected, rtol=0, atol=1e-6)


def test_predictions_are_the_same_when_the_table_of_words_would_be_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    task = review_task()
    made = KimCNN(vectors=random_vectors(OTHERS, 6), filters=4).build(task.corpus, task.classes, seed=0)
    p = made.predict_proba(task.corpus)

    monkeypatch.setattr("crowdlogic.extensions.networks.kim_cnn.MAX_TABLE_SIZE", 10)

    assert made.network.precompute(torch.zeros(1, 9, dtype=torch.long)) is None
    np.testing.assert_allclose(made.predict_proba(task.corpus), p, rtol=0, atol=1e-7)


def test_gradients_are_those_of_plain_convolutions() -> None:
    corpus = documents(range(len(TEXTS)), TEXTS)
    options = KimCNN(vectors=random_vectors(OTHERS, 6), filters=4, tune_vectors=True, dropout=0.0)
    made = options.build(corpus, ("neg", "pos"), seed=0)
    said = made.inputs(corpus)
    sentence = [said.rows[0, said.offsets[s] : said.offsets[s + 1]].tolist() for s in range(len(TEXTS))]
    network = made.network
    logits, _ = _logits(made, corpus)
    (logits[:, 0] - logits[:, 1] ** 2).sum().backward()
    found = {name: tensor.grad.clone() for name, tensor in network.named_parameters()}
    network.zero_grad()

    slow = torch.stack([differentiable_logits(network, rows) for rows in sentence])
    (slow[:, 0] - slow[:, 1] ** 2).sum().backward()

    for name, tensor in network.named_parameters():
        np.testing.assert_allclose(found[name].numpy(), tensor.grad.numpy(), rtol=0, atol=1e-5, err_msg=name)


def _logits(made, corpus):
    from crowdlogic.extensions.networks.network import make_batch

    inputs = made.inputs(corpus)
    batch, units = make_batch(inputs, np.arange(len(inputs.offsets) - 1), made.device)
    made.network.train()
    logits = made.network(batch)
    np.testing.assert_array_equal(units, np.arange(len(units)))
    return logits, units


def differentiable_logits(network: KimNetwork, rows: list[int]) -> torch.Tensor:
    """As `slow_logits`, through torch's graph."""
    windows, count = network.filters.windows, network.filters.count
    empty = torch.zeros(max(windows) - 1, network.embedding.size)
    words = network.embedding.own[torch.tensor(rows, dtype=torch.long)]
    sentence = torch.cat([empty, words, empty]).T[None]
    pooled = []
    weights = network.filters.weight.split([width * count for width in windows])
    for width, weight, bias in zip(windows, weights, network.filters.bias.split(count), strict=True):
        filters = weight.view(width, count, -1).permute(1, 2, 0)
        pooled.append(torch.relu(torch.nn.functional.conv1d(sentence, filters, bias)).amax(dim=2))
    return network.output(torch.cat(pooled, dim=1))[0]


def test_the_paper_s_network_trains_360_902_numbers() -> None:
    vectors = random_vectors(OTHERS, 300)

    made = KimCNN(vectors=vectors).build(review_task().corpus, ("neg", "pos"), seed=0)

    trained = sum(tensor.numel() for tensor in made.network.parameters() if tensor.requires_grad)
    assert trained == 300 * (3 + 4 + 5) * 100 + 300 + 300 * 2 + 2 == 360_902


def test_filters_start_as_torch_starts_convolutions() -> None:
    made = KimCNN(vectors=random_vectors(OTHERS, 50), windows=(2, 8), filters=200).build(
        review_task().corpus, ("neg", "pos"), seed=0
    )

    narrow, wide = made.network.filters.weight.detach().split([400, 1600])

    for weight, width in ((narrow, 2), (wide, 8)):
        bound = 1 / np.sqrt(50 * width)
        assert 0.99 * bound < weight.abs().max() <= bound
        np.testing.assert_allclose(weight.std(), bound / np.sqrt(3), rtol=0.02)


def test_vectors_stay_as_given_unless_tuned() -> None:
    task, vectors = review_task(), random_vectors(("fine", *OTHERS), 8)
    still, moving, random = (
        KimCNN(vectors=given, tune_vectors=tuned, filters=4, vector_size=8).build(task.corpus, task.classes, seed=0)
        for given, tuned in ((vectors, None), (vectors, True), (None, None))
    )
    before = [made.network.embedding.own.detach().clone() for made in (still, moving, random)]

    for made in (still, moving, random):
        made.fit_epoch(task.corpus, task.targets)

    after = [made.network.embedding.own.detach() for made in (still, moving, random)]
    assert torch.equal(before[0], after[0])
    assert not torch.equal(before[1], after[1])
    assert not torch.equal(before[2], after[2])
    assert (after[1][0] == 0).all()  # padding
    assert (after[2][0] == 0).all()


def test_words_without_a_vector_start_within_a_hundredth() -> None:
    made = KimCNN(vectors=random_vectors(("fine",), 8)).build(documents([0], ["fine strange"]), ("a", "b"), seed=0)

    strange = made.network.embedding.own[3]

    assert 0 < strange.abs().max() <= 0.01


def test_a_word_that_is_new_at_prediction_gets_its_vector() -> None:
    twins = WordVectors(("grand", "superb"), np.array([[1, 2, 3], [1, 2, 3]], dtype=np.float32))
    made = KimCNN(vectors=twins, filters=4).build(documents([0], ["grand"]), ("neg", "pos"), seed=0)

    known, new, upper, unknown = made.predict_proba(documents(range(4), ["grand", "superb", "SUPERB", "other"]))

    np.testing.assert_array_equal(new, known)
    np.testing.assert_array_equal(upper, known)
    assert not np.allclose(unknown, known)


def test_output_weights_are_scaled_back_to_the_norm() -> None:
    task = review_task()
    made = KimCNN(filters=4, vector_size=8, max_norm=0.05).build(task.corpus, task.classes, seed=0)

    made.fit_epoch(task.corpus, task.targets)

    norms = made.network.output.weight.detach().norm(dim=1)
    assert norms.max() <= 0.05 + 1e-6


def test_texts_are_cut_as_asked() -> None:
    corpus = documents([0], ["na\u00efve & bold"])

    plain, kim = (KimCNN(tokenizer=tokenizer).tokenize(corpus).words for tokenizer in ("plain", "kim"))

    assert plain == ("na\u00efve", "&", "bold")
    assert kim == tuple(tokenize_kim("na\u00efve & bold"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"windows": ()}, "kim-cnn: windows, filters and vector_size must be at least 1."),
        ({"windows": (3, 0)}, "kim-cnn: windows, filters and vector_size must be at least 1."),
        ({"dropout": 1.0}, "kim-cnn: dropout must be in [0, 1) and max_norm at least 0."),
        ({"tokenizer": "spaces"}, "kim-cnn: tokenizer: expected one of kim, plain; got 'spaces'."),
    ],
)
def test_senseless_options_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        KimCNN(**wrong)

    assert str(caught.value) == message


def test_sequences_of_tokens_are_refused() -> None:
    with pytest.raises(CorpusError, match="kim-cnn needs the texts of documents, but these are sequences of tokens"):
        KimCNN().build(sentences([0], [["a", "b"]]), ("x", "y"), seed=0)


def test_training_defaults_are_the_paper_s() -> None:
    assert KimCNN().training == Training("adadelta", learning_rate=1.0, halve_every=5, batch_size=50, clip_norm=3.0)
