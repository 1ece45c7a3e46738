"""The BiLSTM-CRF tagger: what it reads of a word, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.classifiers.planted_tasks import tag_task

torch = pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")

from crowdlogic.data.corpus import documents, sentences  # noqa: E402
from crowdlogic.errors import CorpusError, OptionError  # noqa: E402
from crowdlogic.extensions.networks.bilstm_crf import N_CHARACTERS, BiLSTMCRF, character_codes  # noqa: E402
from crowdlogic.extensions.networks.network import Training  # noqa: E402

QUICK = Training(learning_rate=1e-2, batch_size=16)


def test_characters_are_coded_and_long_words_read_from_both_ends() -> None:
    codes = character_codes(("ab", "abcdefg", "字"), 5)

    assert codes.shape == (5, 3)
    assert codes[:, 0].tolist() == [98, 99, 0, 0, 0]
    assert codes[:, 1].tolist() == [98, 99, 100, 103, 104]
    assert 256 < codes[0, 2] < N_CHARACTERS
    assert codes[1:, 2].tolist() == [0, 0, 0, 0]


def test_an_unknown_word_is_told_by_its_characters() -> None:
    """Words in -ix are names, whatever else they are: new ones are recognised."""
    rng = np.random.default_rng(0)
    stems = ["".join(rng.choice(list("abcdefghij"), 4)) for _ in range(200)]
    words = [stem + ("ix" if n % 2 else "on") for n, stem in enumerate(stems)]
    truth = np.arange(200) % 2
    corpus = sentences(range(40), [words[5 * s : 5 * s + 5] for s in range(40)])
    made = BiLSTMCRF(vector_size=8, hidden_size=12, dropout=0.2, training=QUICK).build(corpus, ("O", "X"), seed=0)
    for _ in range(15):
        made.fit_epoch(corpus, np.eye(2)[truth])

    new = made.predict_proba(sentences(range(2), [["zzzzix", "kkkkon"], ["qqqqon", "wwwwix"]]))

    assert new.argmax(axis=1).tolist() == [1, 0, 0, 1]


def test_a_sentence_is_tagged_alike_whatever_else_is_in_the_corpus() -> None:
    task = tag_task()
    made = BiLSTMCRF(vector_size=8, hidden_size=6, training=QUICK).build(task.corpus, task.classes, seed=0)
    made.fit_epoch(task.corpus, task.targets)

    whole = made.predict_proba(task.corpus)
    alone = made.predict_proba(task.corpus.take_items(np.arange(3)))

    np.testing.assert_allclose(alone, whole[: len(alone)], rtol=0, atol=1e-6)


def test_both_directions_are_those_of_torch_s_lstm() -> None:
    """Over one sequence alone; gradients reach all of its positions and none behind its end."""
    corpus = sentences([0], [["a", "b"]])
    network = BiLSTMCRF(vector_size=4, hidden_size=3, dropout=0.0).build(corpus, ("O", "X"), seed=0).network
    lengths = torch.tensor([7, 2, 0, 5])
    noise = torch.Generator().manual_seed(0)
    inputs = torch.randn(4, 7, network.lstm.input_size, generator=noise, requires_grad=True)

    hidden = network.recurrent(inputs, lengths)

    for s, length in [(0, 7), (1, 2), (3, 5)]:
        expected = network.lstm(inputs[s : s + 1, :length])[0][0]
        torch.testing.assert_close(hidden[s, :length], expected, atol=1e-6, rtol=0)
    mask = torch.arange(7) < lengths[:, None]
    (hidden * mask[:, :, None]).sum().backward()
    np.testing.assert_array_equal(inputs.grad.abs().sum(dim=2).numpy() > 0, mask.numpy())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"hidden_size": 0},
            "bilstm-crf: hidden_size, vector_size, character_size and most_characters must be at least 1.",
        ),
        ({"shape_size": -1}, "bilstm-crf: shape_size and character_filters must be at least 0."),
        ({"word_dropout": 1.0}, "bilstm-crf: word_dropout must be in [0, 1), got 1.0."),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError) as caught:
        BiLSTMCRF(**options)

    assert str(caught.value) == message


def test_documents_are_refused() -> None:
    with pytest.raises(CorpusError, match="bilstm-crf tags the tokens of sequences"):
        BiLSTMCRF().build(documents(range(2), ["a text", "another"]), ("a", "b"), seed=0)
