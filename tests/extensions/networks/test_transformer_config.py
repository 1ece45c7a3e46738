"""A transformer of a stranger's run: only text encoders, only their own options, and never the network."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest
from tests.classifiers.tiny_bert import write_tiny_bert

pytest.importorskip("torch", reason="torch is not installed: pip install crowdlogic[torch]")
if not find_spec("transformers"):
    pytest.skip("transformers is not installed: pip install crowdlogic[hf]", allow_module_level=True)

from crowdlogic.classifiers.protocol import encode_json
from crowdlogic.data.corpus import documents
from crowdlogic.errors import FormatError
from crowdlogic.extensions.networks.transformer import (
    MODEL_TYPES,
    Transformer,
    check_options,
    import_transformers,
    known_options,
    offline,
    with_attention,
)

TEXTS = documents([0, 1], ["a fine film", "poor"])
CLASSES = ("x", "y")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The arrays of a small transformer."""
    folder = write_tiny_bert(tmp_path_factory.mktemp("bert"), ["a", "fine", "film", "poor"])
    return Transformer(folder).build(TEXTS, CLASSES, seed=0).arrays()


def config(saved: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(saved["fixed.config"].tobytes())
    return found


@pytest.mark.parametrize(
    "change",
    [
        {"attn_implementation": "some-one/kernel"},
        {"_attn_implementation": "some-one/kernel"},
        {"model_type": "dpt", "backbone": "some-one/backbone"},
        {"model_type": "upernet"},
        {"model_type": "encoder-decoder"},
        {"model_type": None},
        {"backbone": "some-one/backbone"},
        {"auto_map": {"AutoModel": "x--y"}},
        {"quantization_config": {}},
        {"hidden_act": "some-one/kernel"},
        {"hidden_act": 3},
        {"hidden_size": "16"},
        {"hidden_size": 10**12},
        {"hidden_size": 4096},
        {"hidden_size": 0},
        {"hidden_size": -16},
        {"num_attention_heads": 0},
        {"num_hidden_layers": 10**6},
        {"num_hidden_layers": 100},
        {"vocab_size": 10**7},
        {"vocab_size": 3},
        {"max_position_embeddings": 5},
        {"pad_token_id": 10**6},
        {"hidden_act": "nonsense"},
        {"layer_norm_eps": {"a": [1]}},
    ],
    ids=str,
)
def test_a_configuration_that_no_text_encoder_has_is_refused(saved: dict[str, Any], change: dict[str, Any]) -> None:
    arrays = saved | {"fixed.config": encode_json(config(saved) | change)}

    with pytest.raises(FormatError) as refused:
        Transformer().load(arrays, CLASSES)

    assert len(str(refused.value)) <= 1000


@pytest.mark.parametrize("name", ["fixed.config", "fixed.tokenizer", "fixed.length"])
def test_nonsense_in_the_place_of_a_configuration_is_refused(saved: dict[str, Any], name: str) -> None:
    for wrong in (encode_json("{}"), encode_json([1]), np.array([255, 254], np.uint8), np.array(-1), np.array(10**9)):
        with pytest.raises(FormatError):
            Transformer().load(saved | {name: wrong}, CLASSES)


def test_every_model_type_is_known_to_transformers() -> None:
    auto = import_transformers()

    for name in MODEL_TYPES:
        options = known_options({"model_type": name, "attn_implementation": "x/y", "dtype": "float32"}, auto)
        assert options == {"model_type": name}
        assert check_options(options, auto) == options


def test_attention_is_computed_by_what_the_model_has() -> None:
    def make(how: str) -> str:
        if how == "sdpa":
            raise ValueError("has no sdpa")
        return how

    assert with_attention(lambda how: how) == "sdpa"
    assert with_attention(make) == "eager"


def test_the_network_is_shut_off_within_and_as_before_after(monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import is_offline_mode

    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    before = is_offline_mode()
    with offline():
        within = is_offline_mode(), os.environ["HF_HUB_OFFLINE"]

    assert within == (True, "1")
    assert is_offline_mode() == before
    assert "HF_HUB_OFFLINE" not in os.environ


class Watched(BaseHTTPRequestHandler):
    """A hub that has nothing, and notes who asks."""

    def do_GET(self) -> None:
        self.server.seen.append(self.path)  # type: ignore[attr-defined]
        self.send_error(404)

    do_HEAD = do_GET  # noqa: N815

    def log_message(self, *given: Any) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[ThreadingHTTPServer]:
    """A server on this machine in the place of the hub."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Watched) as server:
        server.seen = []  # type: ignore[attr-defined]
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


SCRIPT = """
import sys
import numpy as np
from safetensors.numpy import load_file
from crowdlogic.classifiers.protocol import encode_json
from crowdlogic.extensions.networks.transformer import Transformer
from crowdlogic.data.corpus import documents
from crowdlogic.errors import FormatError
import json

arrays = load_file(sys.argv[1])
own = json.loads(arrays["fixed.config"].tobytes())
attacks = [
    {"attn_implementation": "some-one/kernel"},
    {"_attn_implementation": "some-one/kernel"},
    {"hidden_act": "some-one/kernel"},
    {"model_type": "dpt", "backbone": "some-one/backbone", "use_pretrained_backbone": True},
    {"model_type": "upernet", "backbone": "some-one/backbone"},
    {"model_type": "vision-encoder-decoder"},
]
for attack in attacks:
    try:
        Transformer().load(arrays | {"fixed.config": encode_json(own | attack)}, ("x", "y"))
    except FormatError:
        print("refused")
Transformer().load(arrays, ("x", "y")).predict_proba(documents([0], ["a fine film"]))
print("predicted")
if len(sys.argv) > 2:
    from huggingface_hub import hf_hub_download
    try:
        hf_hub_download("some-one/backbone", "config.json")
    except Exception:
        print("asked")
"""


def test_no_run_makes_transformers_ask_the_hub(saved: dict[str, Any], tmp_path: Path, hub: ThreadingHTTPServer) -> None:
    from safetensors.numpy import save_file

    save_file(
        {name: np.ascontiguousarray(array) if array.ndim else array for name, array in saved.items()},
        tmp_path / "arrays",
    )
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "TRANSFORMERS_"))}
    there = {
        "HF_ENDPOINT": f"http://127.0.0.1:{hub.server_address[1]}",
        "HF_HOME": str(tmp_path / "hub"),
        "NO_PROXY": "*",
    }

    def run(*words: str) -> str:
        command = [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tmp_path / "arrays"), *words]
        return subprocess.run(command, capture_output=True, text=True, check=True, env=clean | there).stdout

    said, seen = run(), list(hub.seen)  # type: ignore[attr-defined]
    asked = run("and ask")

    assert said.split() == ["refused"] * 6 + ["predicted"]
    assert seen == []
    assert asked.split()[-1] == "asked"
    assert hub.seen  # type: ignore[attr-defined]  # so the server would have seen it
