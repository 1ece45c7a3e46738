"""Kim's convolutional network for sentences: windows of three widths, the strongest answer of each filter, a softmax.

[KIM14] Kim, "Convolutional neural networks for sentence classification", 2014. As [LNCL] uses it: static vectors,
windows of 3, 4 and 5 words with 100 filters each, dropout 0.5 on the pooled features, Adadelta.

Axes: s sentence, t place, d dimension, f filter.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from crowdlogic.classifiers.convolution import FilterNetwork, Filters
from crowdlogic.classifiers.layers import Dropout, Embedding
from crowdlogic.classifiers.network import Batch, Inputs, word_inputs
from crowdlogic.classifiers.neural import NeuralClassifier
from crowdlogic.classifiers.protocol import Arrays
from crowdlogic.classifiers.training import Training
from crowdlogic.classifiers.word_network import build_classifier, load_classifier
from crowdlogic.classifiers.words import TOKENIZERS, TokenStream, WordIndex, tokenize_texts
from crowdlogic.data.corpus import Corpus
from crowdlogic.data.names import Classes
from crowdlogic.data.vectors import WordVectors
from crowdlogic.errors import OptionError

PAPER = Training(optimiser="adadelta", learning_rate=1.0, halve_every=5, batch_size=50, clip_norm=3.0)


@dataclass(frozen=True)
class KimCNN:
    """The options of Kim's network; as they stand, those of the paper.

    Attributes:
        vectors: The word vectors; without any, words start at random and are trained.
        windows: The widths of the filters.
        filters: How many there are of each width.
        dropout: The share of pooled features left out in training.
        tune_vectors: Whether the vectors of the training words are trained, too. None: only when there are no vectors.
        vector_size: The dimensions of a word when there are no vectors.
        max_norm: The greatest norm of a class' output weights, to which they are scaled back ([KIM14]); 0 for none.
        tokenizer: How a text is cut into words: kim or plain.
        case_sensitive: Whether vectors are looked up as words stand, never in lower case.
        training: The optimiser and its options. The paper's program clips the gradient's norm at 3 where [KIM14]
            rescales the output weights.
    """

    vectors: WordVectors | None = field(default=None, repr=False)
    windows: tuple[int, ...] = (3, 4, 5)
    filters: int = 100
    dropout: float = 0.5
    tune_vectors: bool | None = None
    vector_size: int = 100
    max_norm: float = 0.0
    tokenizer: str = "kim"
    case_sensitive: bool = False
    training: Training = PAPER

    name = "kim-cnn"
    unknown_spread = 0.01
    """As in the paper's program; [KIM14] has 0.25."""

    def __post_init__(self) -> None:
        if not self.windows or min(*self.windows, self.filters, self.vector_size) < 1:
            raise OptionError(f"{self.name}: windows, filters and vector_size must be 1 or more.")
        if not 0 <= self.dropout < 1 or not self.max_norm >= 0:
            raise OptionError(f"{self.name}: dropout must lie from 0 to below 1, and max_norm be 0 or more.")
        if self.tokenizer not in TOKENIZERS:
            raise OptionError(f"{self.name}: tokenizer: {self.tokenizer!r} is none of {', '.join(TOKENIZERS)}.")

    @property
    def is_tuned(self) -> bool:
        """Whether the vectors of the training words are trained."""
        return self.vectors is None if self.tune_vectors is None else self.tune_vectors

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> NeuralClassifier:
        """A new network for the words of a corpus."""
        return build_classifier(self, corpus, classes, seed=seed)

    def load(self, arrays: Arrays, classes: Classes) -> NeuralClassifier:
        """The network that these arrays were taken from."""
        return load_classifier(self, arrays, classes)

    def said(self, corpus: Corpus) -> TokenStream:
        """The words of the texts."""
        return tokenize_texts(corpus, self.name, tokenizer=self.tokenizer)

    def inputs(self, said: TokenStream, index: WordIndex) -> Inputs:
        """Rows of words; each text is a unit."""
        return word_inputs(said.offsets, index.rows(said.words)[None, :])

    def network(self, embedding: Embedding, n_classes: int) -> KimNetwork:
        """A new network over word vectors."""
        return KimNetwork(embedding, n_classes, self)


class KimNetwork(FilterNetwork):
    """[KIM14] figure 1."""

    def __init__(self, embedding: Embedding, n_classes: int, options: KimCNN) -> None:
        super().__init__()
        self.embedding, self.n_classes = embedding, n_classes
        self.reach = max(options.windows) - 1
        self.filters = Filters(options.windows, options.filters, embedding.size)
        self.dropout = Dropout(options.dropout)
        self.output = nn.Linear(len(options.windows) * options.filters, n_classes)
        self.max_norm = options.max_norm

    def logits(self, batch: Batch, precomputed: Tensor | None) -> Tensor:
        """logits[s, k]: by the greatest answer of each filter, with (widest - 1) empty places around a sentence."""
        table, place = self.products(batch, precomputed)
        greatest = self.filters.max_pool(table, place, batch.lengths + 2 * self.reach)
        logits: Tensor = self.output(self.dropout(torch.relu(greatest)))
        return logits

    def after_step(self) -> None:
        """Scale back the output weights of a class whose norm is too great ([KIM14] section 2.1)."""
        if self.max_norm:
            with torch.no_grad():
                weight = self.output.weight  # weight[k, d], or that of every annotator's head
                weight.copy_(torch.renorm(weight.flatten(0, -2), 2, 0, self.max_norm).view_as(weight))
