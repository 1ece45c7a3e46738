"""Options as plain data, which JSON can hold."""

from __future__ import annotations

import json

import numpy as np
import pytest

from crowdlogic.data.vectors import WordVectors
from crowdlogic.store.options import decode_options, encode_options


def test_word_vectors_are_data_and_no_option() -> None:
    pytest.importorskip("torch")
    from crowdlogic.extensions.networks.kim_cnn import KimCNN

    plain = encode_options(KimCNN(vectors=WordVectors(("a",), np.zeros((1, 2), np.float32)), windows=(2, 3)))

    assert "vectors" not in plain
    assert decode_options(KimCNN(), json.loads(json.dumps(plain))) == KimCNN(windows=(2, 3))
