"""Classifiers that learn from soft targets, one epoch at a time. `registry.CLASSIFIERS` lists them by name.

| | modules |
|---|---|
| the protocols | protocol |
| without torch | class_prior, linear, crf (with features), scikit (with scikit_estimators, scikit_state) |
| neural networks | kim_cnn, cnn_gru (with word_network, convolution, words), mlp, transformer (with word_pieces) |
| what they share | neural (the training loop), network, layers, batches, training (the options) |
| on crowd labels | crowd_layer, crowd_heads, crowd_head_weights, crowd_label_loss: for the baselines in `learning` |
"""

from crowdlogic.exports import lazy_exports

__all__, __getattr__, __dir__ = lazy_exports(__name__, __file__)
