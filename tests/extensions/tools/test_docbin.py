"""spaCy's DocBin. What spaCy itself makes of our files is tested in an environment of its own (tests/tools)."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowdlogic.data.corpus import documents
from crowdlogic.data.frames import from_frame
from crowdlogic.errors import MissingExtraError
from crowdlogic.extensions.tools.spacy_docbin import SPACY, split_words
from crowdlogic.truth.majority import MajorityVote


@given(st.text())
def test_words_and_spaces_make_up_the_text_again(text: str) -> None:
    words, spaces = split_words(text)

    assert "".join(word + " " * space for word, space in zip(words, spaces, strict=True)) == text
    assert all(words)


def test_without_spacy_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "spacy", None)
    estimate = MajorityVote().infer(from_frame({"item": ["u"], "annotator": ["a"], "label": ["x"]}))

    with pytest.raises(MissingExtraError, match=r"not installed: pip install crowdlogic\[spacy\]"):
        SPACY.encode_estimate(estimate, documents(["u"], ["text"]), "f.spacy")
