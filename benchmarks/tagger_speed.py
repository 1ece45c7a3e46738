"""Measure the CPU time of an epoch of bilstm-crf on soft targets, and of its network with pytorch-crf on hard ones.

    pip install --no-deps --target .venv-crf pytorch-crf==0.7.2
    python -m benchmarks.tagger_speed --peer .venv-crf       # the paper's data if CROWDLOGIC_DATA is set

An epoch trains on the whole corpus; both have the same network, the same batches and one thread. pytorch-crf learns one
tagging (the vote), our layer the expected log-likelihood under beliefs about tokens and neighbours. The targets are at
most 10 seconds on the NER data, and not slower than pytorch-crf.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import torch
from torch import Tensor

from benchmarks.epoch_speed import Setting, named_entities
from benchmarks.machine import best_seconds, describe_machine
from crowdlogic.data.chain_beliefs import ChainBeliefs, ChainScores
from crowdlogic.data.tagging import sequence_starts
from crowdlogic.extensions.networks.bilstm_crf import BiLSTMCRF
from crowdlogic.extensions.networks.chain_networks import ChainNeuralClassifier
from crowdlogic.extensions.networks.network import BatchLoss, Training
from crowdlogic.numerics.arrays import Ints

BAR = 10.0
"""Time limit for an epoch of our network, in seconds."""


def build(setting: Setting, n_tags: int, batch_size: int) -> ChainNeuralClassifier:
    """Return an untrained tagger."""
    training = Training(learning_rate=2e-3, batch_size=batch_size, clip_norm=5.0)
    options = BiLSTMCRF(vectors=setting.vectors, training=training)
    made = options.build(setting.corpus, tuple(f"t{k}" for k in range(n_tags)), seed=0)
    if not isinstance(made, ChainNeuralClassifier):
        raise TypeError("bilstm-crf is not a classifier of chains.")
    return made


def random_targets(setting: Setting, n_tags: int) -> ChainBeliefs:
    """Return the marginals of a random chain: soft beliefs about tokens and neighbours."""
    rng = np.random.default_rng(0)
    scores = ChainScores(
        unary=2.0 * rng.normal(size=(setting.corpus.n_units, n_tags)),
        transitions=rng.normal(size=(n_tags, n_tags)),
        start=np.zeros(n_tags),
        offsets=np.asarray(setting.corpus.offsets),
    )
    return scores.beliefs()


def peer_loss(layer: Any, tags: Ints, offsets: Ints) -> BatchLoss:
    """Return the mean negative log-likelihood of one tagging, by pytorch-crf's layer."""
    begins = sequence_starts(len(tags), offsets)

    def loss(unary: Tensor, units: Ints) -> tuple[Tensor, int]:
        lengths = np.diff(np.append(np.flatnonzero(begins[units]), len(units))).tolist()
        parts, chosen = torch.split(unary, lengths), torch.split(torch.from_numpy(tags[units]), lengths)
        padded = torch.nn.utils.rnn.pad_sequence(list(parts), batch_first=True)
        wanted = torch.nn.utils.rnn.pad_sequence(list(chosen), batch_first=True)
        mask = torch.arange(padded.shape[1]) < torch.tensor(lengths)[:, None]
        return -layer(padded, wanted, mask=mask, reduction="sum") / len(units), len(units)

    return loss


def main() -> None:
    """Measure both."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--peer", default=None, help="Folder into which pytorch-crf was installed.")
    options.add_argument("--tags", type=int, default=9)
    options.add_argument("--batch", type=int, default=32)
    options.add_argument("--repeats", type=int, default=3)
    options.add_argument(
        "--sentences", type=int, default=None, help="Number of sentences, from the beginning; by default all."
    )
    chosen = options.parse_args()
    torch.set_num_threads(1)
    setting = named_entities()
    if chosen.sentences is not None:
        setting = replace(setting, corpus=setting.corpus.take_items(np.arange(chosen.sentences)))
    corpus, targets = setting.corpus, random_targets(setting, chosen.tags)
    print(describe_machine())
    ours = build(setting, chosen.tags, chosen.batch)
    seconds = best_seconds(
        lambda: ours.fit_chain_epoch(corpus, targets), repeats=chosen.repeats, clock=time.process_time
    )
    name = f"{len(corpus.items):,} sentences, {corpus.n_units:,} tokens, batches of {chosen.batch}"
    print(f"bilstm-crf, soft targets: {seconds:.2f} s of processor time an epoch ({name}); the bar is {BAR:g} s")
    if chosen.peer is None:
        return
    sys.path.insert(0, chosen.peer)
    layer = import_module("torchcrf").CRF(chosen.tags, batch_first=True)
    other = build(setting, chosen.tags, chosen.batch)
    other.network.add_module("peer", layer)
    other.reset_optimiser()
    tags = targets.q.argmax(axis=1)
    loss = peer_loss(layer, tags, np.asarray(corpus.offsets))
    theirs = best_seconds(
        lambda: other.run_epoch(corpus, loss, np.ones(corpus.n_units, dtype=bool)),
        repeats=chosen.repeats,
        clock=time.process_time,
    )
    print(f"the same network with pytorch-crf, hard targets: {theirs:.2f} s, {theirs / seconds:.2f} times ours")


if __name__ == "__main__":
    main()
