"""The tagger against torch's own modules, one sentence at a time."""

from __future__ import annotations

import numpy as np
import pytest
from tests.classifiers.planted_tasks import OTHERS, random_vectors, tag_task

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.data.corpus import documents, sentences  # noqa: E402
from crowdlogic.data.vectors import WordVectors  # noqa: E402
from crowdlogic.errors import CorpusError, OptionError  # noqa: E402
from crowdlogic.extensions.networks.cnn_gru import CNNGRU, TaggerNetwork  # noqa: E402
from crowdlogic.extensions.networks.network import Training  # noqa: E402
from crowdlogic.extensions.networks.word_network import shape_codes  # noqa: E402

SAID = [
    ["the", "film", "of", "Ann"],
    ["a"],
    [],
    ["its", "cast", "and", "scene", "with", "Cleo", "of", "the", "plot", "zzz", "3"],
    ["Bob", "a"],
]
VARIANTS = [
    {},
    {"bidirectional": True},
    {"shape_size": 3},
    {"bidirectional": True, "shape_size": 2, "width": 3},
    {"width": 1},
]


def small(**options: object) -> CNNGRU:
    return CNNGRU(**({"vectors": random_vectors(OTHERS, 6), "filters": 5, "hidden_size": 4} | options))


def slow_logits(network: TaggerNetwork, rows: torch.Tensor) -> torch.Tensor:
    """nn.Conv1d(padding="same") and nn.GRU on one sentence; rows[c, t]."""
    words = torch.cat([network.embedding.own, network.embedding.rest])[rows[0]]
    if network.shapes is not None:
        words = torch.cat([words, network.shapes.weight[rows[1]]], dim=1)
    filters, (width,) = network.filters.count, network.filters.windows
    conv = torch.nn.Conv1d(words.shape[1], filters, width, padding="same")
    gru = torch.nn.GRU(filters, network.gru.hidden_size, batch_first=True, bidirectional=network.gru.bidirectional)
    gru.load_state_dict(network.gru.state_dict())
    with torch.no_grad():
        conv.weight.copy_(network.filters.weight.view(width, filters, -1).permute(1, 2, 0))
        conv.bias.copy_(network.filters.bias)
        hidden, _ = gru(torch.relu(conv(words.T[None])).permute(0, 2, 1))
        return network.output(hidden[0])


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_forward_is_that_of_torch_s_modules_on_single_sentences(variant: dict[str, object]) -> None:
    corpus, options = sentences(range(len(SAID)), SAID), small(**variant)
    made = options.build(sentences(range(2), SAID[:2]), ("O", "X", "Y"), seed=0)

    p = made.predict_proba(corpus)

    inputs = made.inputs(corpus)
    for s, words in enumerate(SAID):
        if words:
            here = slice(int(inputs.offsets[s]), int(inputs.offsets[s + 1]))
            expected = torch.softmax(slow_logits(made.network, torch.from_numpy(inputs.rows[:, here])), dim=1)
            np.testing.assert_allclose(p[here], expected.detach().numpy(), rtol=0, atol=1e-6)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_learning_in_one_batch_is_learning_sentence_by_sentence(variant: dict[str, object]) -> None:
    """Padding has no part in gradients either: that of a batch is the sum over its sentences, each without padding."""
    corpus = sentences(range(len(SAID)), SAID)
    options = small(dropout=0.0, training=Training(batch_size=64), **variant)
    targets = np.random.default_rng(0).dirichlet(np.ones(3), size=corpus.n_units)
    made = options.build(corpus, ("O", "X", "Y"), seed=0)

    together = gradients(made, corpus, targets, [np.arange(len(SAID))])
    apart = gradients(made, corpus, targets, [np.array([s]) for s in range(len(SAID)) if SAID[s]])

    assert together.keys() == apart.keys()
    for name, found in together.items():
        np.testing.assert_allclose(found, apart[name], rtol=0, atol=1e-5, err_msg=name)


def gradients(made, corpus, targets, batches) -> dict[str, np.ndarray]:
    from crowdlogic.extensions.networks.network import make_batch

    made.network.train()
    made.network.zero_grad()
    for sequences in batches:
        batch, units = make_batch(made.inputs(corpus), sequences, made.device)
        goal = torch.from_numpy(targets[units].astype(np.float32))
        (-(goal * torch.log_softmax(made.network(batch), dim=1)).sum()).backward()
    return {name: tensor.grad.numpy().copy() for name, tensor in made.network.named_parameters()}


def test_the_paper_s_network_has_the_paper_s_numbers() -> None:
    tags = ("B-LOC", "B-MISC", "B-ORG", "B-PER", "I-LOC", "I-MISC", "I-ORG", "I-PER", "O")

    made = CNNGRU(vectors=random_vectors(OTHERS, 300)).build(tag_task().corpus, tags, seed=0)

    trained = {name: tensor.numel() for name, tensor in made.network.named_parameters() if tensor.requires_grad}
    words = trained.pop("embedding.own")
    assert words == 300 * (2 + len(set(tag_task().corpus.tokens)))
    convolution, recurrent, dense = 300 * 5 * 512 + 512, 3 * (512 * 50 + 50 * 50 + 2 * 50), 50 * 9 + 9
    assert sum(trained.values()) == convolution + recurrent + dense


def test_a_sentence_is_tagged_alike_whatever_pads_it() -> None:
    made = small(bidirectional=True).build(sentences(range(len(SAID)), SAID), ("O", "X"), seed=0)

    alone = made.predict_proba(sentences([0], SAID[:1]))
    beside = made.predict_proba(sentences([0, 1], [SAID[0], SAID[3] * 4]))[:4]

    np.testing.assert_allclose(beside, alone, rtol=0, atol=1e-6)


def test_padding_and_its_shape_stay_zero_under_training() -> None:
    task = tag_task()
    made = small(shape_size=3, training=Training(optimiser="adamw", learning_rate=0.1, weight_decay=0.1)).build(
        task.corpus, task.classes, seed=0
    )

    for _ in range(2):
        made.fit_epoch(task.corpus, task.targets)

    assert (made.network.embedding.own[0] == 0).all()
    assert (made.network.shapes.weight[0] == 0).all()
    assert (made.network.embedding.own[2:] != 0).any(dim=1).all()


def test_looks_tell_words_with_one_vector_apart() -> None:
    corpus = sentences(range(3), [["Ann"], ["ann"], ["ANN"]])
    vectors = WordVectors(("ann",), np.ones((1, 4), dtype=np.float32))
    blind, seeing = (
        CNNGRU(vectors=vectors, tune_vectors=False, filters=5, hidden_size=4, shape_size=shapes).build(
            corpus, ("O", "X"), seed=0
        )
        for shapes in (0, 2)
    )

    same, different = blind.predict_proba(corpus), seeing.predict_proba(corpus)

    assert np.ptp(same, axis=0).max() == 0
    assert (np.abs(different[[0, 0, 1]] - different[[1, 2, 2]]).max(axis=1) > 1e-6).all()
    np.testing.assert_array_equal(seeing.inputs(corpus).rows[1], shape_codes(["Ann", "ann", "ANN"]))


def test_capitals_have_no_vector_when_look_up_is_exact() -> None:
    vectors = WordVectors(("ann",), np.ones((1, 4), dtype=np.float32))
    corpus = sentences([0], [["Ann", "ann"]])

    lower, exact = (
        CNNGRU(vectors=vectors, case_sensitive=exact)
        .build(corpus, ("O", "X"), seed=0)
        .network.embedding.own.detach()
        .numpy()
        for exact in (False, True)
    )

    np.testing.assert_array_equal(lower[2:], 1)
    np.testing.assert_array_equal(exact[2:], [[0] * 4, [1] * 4])


def test_a_new_word_gets_its_vector_in_training_too() -> None:
    """A classifier may learn from another corpus than it was built for; words beyond its own keep their vectors."""
    twins = WordVectors(("Ann", "Cleo"), np.array([[1, 2, 3], [1, 2, 3]], dtype=np.float32))
    options = CNNGRU(vectors=twins, filters=4, hidden_size=3, dropout=0.0, tune_vectors=False)
    first, second = (options.build(sentences([0], [["Ann"]]), ("O", "X"), seed=0) for _ in range(2))

    losses = [
        made.fit_epoch(sentences([0], [[word]]), np.array([[0.0, 1.0]]))
        for made, word in ((first, "Ann"), (second, "Cleo"))
    ]

    assert losses[0] == losses[1]
    np.testing.assert_array_equal(
        first.predict_proba(sentences([0], [["Ann"]])), second.predict_proba(sentences([0], [["Ann"]]))
    )


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"width": 4}, "cnn-gru: width must be odd, got 4."),
        (
            {"filters": 0},
            "cnn-gru: filters, hidden_size and vector_size must be at least 1, and shape_size at least 0.",
        ),
        ({"dropout": -0.1}, "cnn-gru: dropout must be in [0, 1), got -0.1."),
    ],
)
def test_senseless_options_are_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        CNNGRU(**wrong)

    assert str(caught.value) == message


def test_documents_are_refused() -> None:
    with pytest.raises(CorpusError, match="cnn-gru tags the tokens of sequences, but these items have none"):
        CNNGRU().build(documents([0], ["a"]), ("x", "y"), seed=0)
