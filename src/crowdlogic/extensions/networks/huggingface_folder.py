"""Export of a fine-tuned transformer to a folder for Hugging Face's Auto classes, with the classes as id2label.

Our output layer is linear in the hidden state of a document's first piece or a token's first piece. The token heads of
transformers have the same form. Their document heads have an additional layer with a tanh or a rectifier, which is
configured to change nothing: tanh of a number scaled by 1e-4 is linear, and a rectifier far above zero is the identity.
The result is compared with our predictions before anything is written.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch

from crowdlogic.classifiers.protocol import FIXED, decode_json
from crowdlogic.errors import OptionError
from crowdlogic.extensions.networks.transformer import import_transformers, silence
from crowdlogic.extensions.networks.transformer_network import TransformerNetwork
from crowdlogic.learning.saved_run import Run

TANH_SCALE, RELU_SHIFT = 1e-4, 32.0
"""Input scale at which tanh, and shift at which a rectifier, is linear to seven digits."""
TOLERANCE = 1e-5
"""Maximum difference between exported and original probabilities."""
TEST_LENGTH = 7


def write_huggingface(run: Run, folder: Path) -> list[str]:
    """Write the files of a run into an empty folder and return notices to the user."""
    network = getattr(run.classifier, "network", None)
    if not isinstance(network, TransformerNetwork):
        name = run.record.config["method"]["classifier"]["name"]
        raise OptionError(
            f"{run.folder}: a {name} classifier is not a transformer. Export it as an ONNX model instead: --to onnx."
        )
    sequential = run.learned.task.labels.is_sequential
    if network.pooling != "first" and not sequential:
        raise OptionError(
            f"{run.folder}: transformers has no head with a {network.pooling} over all positions. Train with "
            f"--set classifier.pooling=first."
        )
    network.eval()
    model = make_model(network, [str(name) for name in run.estimate.classes], sequential=sequential)
    check_equal(network, model, sequential=sequential)
    arrays = run.classifier.arrays()
    with silence(import_transformers()):
        model.save_pretrained(folder)
        make_tokenizer(arrays, network).save_pretrained(folder)
    if run.teacher.is_idle:
        return []
    return ["The rules are not exported; the answers of the model equal those of predict --student."]


def make_model(network: TransformerNetwork, names: list[str], *, sequential: bool) -> Any:
    """Return the transformer with the standard head of transformers for the task."""
    auto = import_transformers()
    config = type(network.encoder.config).from_dict(network.config)
    config.id2label, config.label2id = dict(enumerate(names)), {name: k for k, name in enumerate(names)}
    kind = auto.AutoModelForTokenClassification if sequential else auto.AutoModelForSequenceClassification
    with torch.random.fork_rng(devices=[]):
        model = kind.from_config(config)
    model.eval()
    model.base_model.load_state_dict(network.encoder.state_dict(), strict=False)
    with torch.no_grad():
        _set_head(model, network.output)
    return model


def _set_head(model: Any, output: torch.nn.Linear) -> None:
    """Copy our weights to the model's last layer, and turn a layer before it, if any, into the identity."""
    head = getattr(model, "classifier", None)
    last = head if isinstance(head, torch.nn.Linear) else getattr(head, "out_proj", None)
    if not isinstance(last, torch.nn.Linear):
        raise OptionError(
            f"The head of {type(model).__name__} cannot represent the linear layer of this classifier. Choose another "
            "model."
        )
    pooler = getattr(getattr(model.base_model, "pooler", None), "dense", None)
    between = [getattr(head, "dense", None), getattr(model, "pre_classifier", None), pooler]
    hidden = next((layer for layer in between if isinstance(layer, torch.nn.Linear)), None)
    last.weight.copy_(output.weight)
    last.bias.copy_(output.bias)
    if hidden is None or "TokenClassification" in type(model).__name__:
        return
    same = torch.eye(hidden.weight.shape[0])
    if hasattr(model, "pre_classifier"):
        hidden.weight.copy_(same)
        hidden.bias.fill_(RELU_SHIFT)
        last.bias.sub_(RELU_SHIFT * output.weight.sum(dim=1))
    else:
        hidden.weight.copy_(TANH_SCALE * same)
        hidden.bias.zero_()
        last.weight.div_(TANH_SCALE)


@torch.inference_mode()
def check_equal(network: TransformerNetwork, model: Any, *, sequential: bool) -> None:
    """Raise an error if the model's probabilities differ from ours on some random pieces."""
    size = network.encoder.config.vocab_size
    rows = torch.from_numpy(np.random.default_rng(0).integers(1, size, size=(4, TEST_LENGTH)))
    hidden = network.encoder(input_ids=rows, attention_mask=torch.ones_like(rows)).last_hidden_state
    ours = network.output(hidden if sequential else hidden[:, 0]).softmax(dim=-1)
    theirs = model(input_ids=rows, attention_mask=torch.ones_like(rows)).logits.softmax(dim=-1)
    if ours.shape != theirs.shape or float((ours - theirs).abs().max()) > TOLERANCE:
        raise OptionError(
            f"{type(model).__name__} does not reproduce this run's predictions, so it cannot be exported."
        )


def make_tokenizer(arrays: Any, network: TransformerNetwork) -> Any:
    """Return the tokenizer of a run as a tokenizer of transformers."""
    from tokenizers import Tokenizer

    pieces = Tokenizer.from_str(decode_json(arrays[FIXED + "tokenizer"]))
    pieces.no_padding()
    pieces.no_truncation()
    named = {
        "pad_token": pieces.id_to_token(network.encoder.config.pad_token_id or 0),
        "unk_token": getattr(pieces.model, "unk_token", None),
    }
    given = {name: token for name, token in named.items() if token is not None}
    length = int(arrays[FIXED + "length"])
    return import_transformers().PreTrainedTokenizerFast(tokenizer_object=pieces, model_max_length=length, **given)
