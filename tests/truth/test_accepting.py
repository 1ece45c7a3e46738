"""`infer` takes labels, or a frame of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from crowdlogic.data.frames import from_frame
from crowdlogic.registry import TRUTH_METHODS
from crowdlogic.truth.methods import needs_sequences, truth_method

FRAME = pd.DataFrame({"item": ["u", "u", "v", "v"], "annotator": ["a", "b", "a", "b"], "label": ["x", "y", "y", "y"]})


@pytest.mark.parametrize("name", [name for name in TRUTH_METHODS if not needs_sequences(name)])
@pytest.mark.filterwarnings("ignore::crowdlogic.errors.CrowdLogicWarning")
def test_a_frame_goes_straight_into_every_method(name: str) -> None:
    method = truth_method(name)

    np.testing.assert_array_equal(method.infer(FRAME).beliefs, method.infer(from_frame(FRAME)).beliefs)  # type: ignore[arg-type]
