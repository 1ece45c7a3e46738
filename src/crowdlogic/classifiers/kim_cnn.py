"""Kim's convolutional network for sentences: filters of several widths, max-pooling over time, a softmax.

[KIM14] Kim, "Convolutional neural networks for sentence classification", 2014. As [LNCL] uses it: static vectors,
windows of 3, 4 and 5 words with 100 filters each, dropout 0.5 on the pooled features, Adadelta.

Axes: s sentence, t position, d dimension, f filter.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from crowdlogic.classifiers.convolution import ConvolutionalNetwork, Filters
from crowdlogic.classifiers.layers import ByteDropout, WordEmbedding
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
"""The training of the paper. Its program clips the gradient's norm at 3 where [KIM14] rescales the output weights."""


@dataclass(frozen=True)
class KimCNN:
    """Kim's network. The defaults are those of the paper.

    Attributes:
        vectors: Pretrained word vectors; without any, words are initialised at random and trained.
        windows: The widths of the filters.
        filters: Number of filters of each width.
        dropout: Dropout rate of the pooled features.
        tune_vectors: Whether the word vectors are trained, too. None: only if they are not pretrained.
        vector_size: The size of a word vector when there are no pretrained ones.
        max_norm: Maximum norm of the output weights of a class ([KIM14]); 0 for no limit.
        tokenizer: How a text is split into words: kim or plain.
        case_sensitive: Whether words are looked up as written only, never in lower case.
        training: The optimiser and its hyper-parameters.
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
    def trains_vectors(self) -> bool:
        """Whether the vectors of the training corpus' words are trained."""
        return self.vectors is None if self.tune_vectors is None else self.tune_vectors

    def build(self, corpus: Corpus, classes: Classes, *, seed: int) -> NeuralClassifier:
        """A new network for the vocabulary of a corpus."""
        return build_classifier(self, corpus, classes, seed=seed)

    def load(self, arrays: Arrays, classes: Classes) -> NeuralClassifier:
        """A network with a saved state."""
        return load_classifier(self, arrays, classes)

    def tokenize(self, corpus: Corpus) -> TokenStream:
        """The words of the texts."""
        return tokenize_texts(corpus, self.name, tokenizer=self.tokenizer)

    def encode(self, tokens: TokenStream, index: WordIndex) -> Inputs:
        """The row of each word; every text is one unit."""
        return word_inputs(tokens.offsets, index.rows(tokens.words)[None, :])

    def network(self, embedding: WordEmbedding, n_classes: int) -> KimNetwork:
        """A new network over word vectors."""
        return KimNetwork(embedding, n_classes, self)


class KimNetwork(ConvolutionalNetwork):
    """[KIM14] figure 1."""

    def __init__(self, embedding: WordEmbedding, n_classes: int, options: KimCNN) -> None:
        super().__init__()
        self.embedding, self.n_classes = embedding, n_classes
        self.padding = max(options.windows) - 1
        self.filters = Filters(options.windows, options.filters, embedding.size)
        self.dropout = ByteDropout(options.dropout)
        self.output = nn.Linear(len(options.windows) * options.filters, n_classes)
        self.max_norm = options.max_norm

    def logits(self, batch: Batch, precomputed: Tensor | None) -> Tensor:
        """logits[s, k], from the maximum of each filter over the padded sentence."""
        table, words = self.products(batch, precomputed)
        pooled = self.filters.max_pool(table, words, batch.lengths + 2 * self.padding)
        logits: Tensor = self.output(self.dropout(torch.relu(pooled)))
        return logits

    def after_step(self) -> None:
        """Rescale the output weights of a class whose norm exceeds max_norm ([KIM14] section 2.1)."""
        if self.max_norm:
            with torch.no_grad():
                weight = self.output.weight  # weight[k, d], or weight[j, k, d] with a head for each annotator
                weight.copy_(torch.renorm(weight.flatten(0, -2), 2, 0, self.max_norm).view_as(weight))
