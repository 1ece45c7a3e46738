"""A classifier that a run cannot hold."""

from __future__ import annotations

import numpy as np
import pytest

from crowdlogic.classifiers.linear import Linear
from crowdlogic.classifiers.protocol import AbsentClassifier, ChainClassifier, Classifier, is_absent
from crowdlogic.data.corpus import documents
from crowdlogic.errors import OptionError

MESSAGE = "run: its classifier holds a Pipeline that was made in Python and is not saved with the run. Pass it when you load the run: crowdlogic.load_run('run', classifier=classifier)."


def test_whoever_asks_it_is_told_the_call_that_brings_it() -> None:
    absent, corpus = AbsentClassifier("run", "holds a Pipeline"), documents(["a"], ["b"])

    for ask in (
        lambda: absent.predict_proba(corpus),
        lambda: absent.fit_epoch(corpus, np.ones((1, 1))),
        absent.arrays,
        lambda: absent.restore({}),
    ):
        with pytest.raises(OptionError) as refused:
            ask()
        assert str(refused.value) == MESSAGE
    assert absent.notice == f"Rules that need the classifier are shown together, not one by one. {MESSAGE}"


def test_it_stands_where_a_classifier_stands() -> None:
    absent = AbsentClassifier("run", "holds a Pipeline")

    assert isinstance(absent, Classifier)
    assert not isinstance(absent, ChainClassifier)
    assert is_absent(absent)
    assert not is_absent(Linear())
