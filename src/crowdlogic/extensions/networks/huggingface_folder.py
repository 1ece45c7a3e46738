"""A fine-tuned transformer as a folder that Hugging Face's Auto classes load, with the classes as id2label.

Our output layer is linear on the hidden state of a document's first piece, or of a token's. Heads of transformers for
tokens are the same. Those for documents have one more layer, a tanh or a rectifier; it is set so that it changes
nothing: tanh of a ten-thousandth of a number is that number, and a rectifier far above zero leaves numbers as they are.
What comes out is compared with ours before anything is written.
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

SMALL, FAR = 1e-4, 32.0
"""Where tanh, and where a rectifier, is the identity to seven digits."""
TOLERANCE = 1e-5
"""How far probabilities may differ from ours."""
TEST_LENGTH = 7


def write_huggingface(run: Run, folder: Path) -> list[str]:
    """Write the files of a run into an empty folder; what a person should know of them."""
    network = getattr(run.classifier, "network", None)
    if not isinstance(network, TransformerNetwork):
        name = run.record.config["method"]["classifier"]["name"]
        raise OptionError(
            f"{run.folder}: a {name} classifier is not a transformer. Export it as an ONNX model: --to onnx."
        )
    sequential = run.learned.task.labels.is_sequential
    if network.pooling != "first" and not sequential:
        raise OptionError(
            f"{run.folder}: a {network.pooling} over all positions is not a head that transformers has. Train with "
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
    return ["Its rules are not in the folder: the model answers as predict --student does."]


def make_model(network: TransformerNetwork, names: list[str], *, sequential: bool) -> Any:
    """The transformer with the head that transformers has for the task."""
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
    """Give the model's last layer our weights, and let a layer before it, if there is one, change nothing."""
    head = getattr(model, "classifier", None)
    last = head if isinstance(head, torch.nn.Linear) else getattr(head, "out_proj", None)
    if not isinstance(last, torch.nn.Linear):
        raise OptionError(f"A {type(model).__name__} has a head that cannot be set to a linear layer.")
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
        hidden.bias.fill_(FAR)
        last.bias.sub_(FAR * output.weight.sum(dim=1))
    else:
        hidden.weight.copy_(SMALL * same)
        hidden.bias.zero_()
        last.weight.div_(SMALL)


@torch.inference_mode()
def check_equal(network: TransformerNetwork, model: Any, *, sequential: bool) -> None:
    """Refuse a model whose probabilities differ from ours on some random pieces."""
    size = network.encoder.config.vocab_size
    rows = torch.from_numpy(np.random.default_rng(0).integers(1, size, size=(4, TEST_LENGTH)))
    hidden = network.encoder(input_ids=rows, attention_mask=torch.ones_like(rows)).last_hidden_state
    ours = network.output(hidden if sequential else hidden[:, 0]).softmax(dim=-1)
    theirs = model(input_ids=rows, attention_mask=torch.ones_like(rows)).logits.softmax(dim=-1)
    if ours.shape != theirs.shape or float((ours - theirs).abs().max()) > TOLERANCE:
        raise OptionError(f"A {type(model).__name__} does not answer as this run does; it cannot be exported this way.")


def make_tokenizer(arrays: Any, network: TransformerNetwork) -> Any:
    """The tokenizer of a run, as transformers has it."""
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
