"""Tokenisers for texts, with the position of each token. The spans of all annotators are aligned to these tokens.

All tokenisers keep a letter and its combining marks together, and skip white space, control characters and invisible
format characters such as right-to-left marks. The tokens only depend on the text. Positions are counted in characters
(Unicode code points), as in Python.

- `words`: sequences of letters and digits; every other character is a token. Scripts without spaces between words
  (Chinese, Japanese, Thai, Lao, Khmer, Burmese) are split into characters. An emoji is one token.
- `whitespace`: text between white space.
- `characters`: every character.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from crowdlogic.data.corpus import Corpus
from crowdlogic.data.intake.contract import Tokenizer
from crowdlogic.data.names import Names
from crowdlogic.errors import CorpusError, parse_choice
from crowdlogic.numerics.arrays import Ints

WITHOUT_SPACES = r"\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}"
LETTER = rf"[\p{{L}}\p{{N}}\p{{M}}\p{{Pc}}&&[^{WITHOUT_SPACES}]]"
LETTER_OR_JOINER = rf"[\p{{L}}\p{{N}}\p{{M}}\p{{Pc}}\x{{200c}}\x{{200d}}&&[^{WITHOUT_SPACES}]]"
PICTURE = r"\p{Extended_Pictographic}[\p{M}\p{Emoji_Modifier}]*"
EMOJI = rf"{PICTURE}(?:\x{{200d}}{PICTURE})*|\p{{RI}}\p{{RI}}"
GAP = r"[\s\p{Cc}\p{Cf}]+"
CHARACTER = r"(?s:.)\p{M}*"


PATTERNS = {
    Tokenizer.words: rf"{EMOJI}|[{WITHOUT_SPACES}]\p{{M}}*|{LETTER}{LETTER_OR_JOINER}*|{GAP}|{CHARACTER}",
    Tokenizer.whitespace: r"\s+|\S+",
    Tokenizer.characters: rf"{EMOJI}|{GAP}|{CHARACTER}",
}
"""Patterns whose consecutive matches cover the whole text; matches of a gap are not tokens."""

TEXTS_AT_ONCE = 1 << 11
"""Number of texts that are tokenised at a time, because intermediate results need several times the memory of the
texts."""


@dataclass(frozen=True, eq=False)
class TokenizedTexts:
    """Texts split into tokens. Axes: s text, i token over all texts.

    Attributes:
        tokens: tokens[i].
        bounds: bounds[i] = (start, end), the position of token i in its text, in characters; the end is exclusive.
        offsets: offsets[s] is the first token of text s, offsets[-1] the number of tokens.
    """

    tokens: Names
    bounds: Ints
    offsets: Ints


def tokenize_texts(texts: Sequence[str] | Names, tokenizer: Tokenizer | str = Tokenizer.words) -> TokenizedTexts:
    """Return the tokens of every text."""
    whole = pl.Series("text", texts, dtype=pl.String)
    pattern = PATTERNS[parse_choice(Tokenizer, tokenizer, "tokens")]
    starts = range(0, max(len(whole), 1), TEXTS_AT_ONCE)
    parts = [_tokenize(whole.slice(start, TEXTS_AT_ONCE), pattern) for start in starts]
    per_text = np.concatenate([np.diff(part.offsets) for part in parts])
    return TokenizedTexts(
        pl.concat([part.tokens for part in parts], rechunk=False),
        np.concatenate([part.bounds for part in parts]),
        np.concatenate([[0], np.cumsum(per_text)]),
    )


def _tokenize(whole: Names, pattern: str) -> TokenizedTexts:
    """Return the tokens of some texts."""
    pieces = whole.str.extract_all(pattern)
    count = pieces.list.len().to_numpy().astype(np.int64)
    flat = pieces.filter(pl.Series(count > 0)).explode()  # an empty list would explode to a missing value
    is_token = ~flat.str.contains(rf"^{GAP}$")
    text_of_piece = np.repeat(np.arange(len(whole)), count)
    end = np.cumsum(flat.str.len_chars().to_numpy().astype(np.int64))
    before = np.cumsum(whole.str.len_chars().to_numpy().astype(np.int64)) - whole.str.len_chars().to_numpy()
    end = end - before[text_of_piece]
    kept = np.flatnonzero(is_token.to_numpy())
    tokens = flat.filter(is_token)
    bounds = np.column_stack([end[kept] - tokens.str.len_chars().to_numpy().astype(np.int64), end[kept]])
    per_text = np.bincount(text_of_piece[kept], minlength=len(whole))
    return TokenizedTexts(tokens.alias("token"), bounds, np.concatenate([[0], np.cumsum(per_text)]))


# Conversion of plain texts to sentences for a tagger.


def tokenize_corpus(corpus: Corpus, tokenizer: Tokenizer | str = Tokenizer.words) -> Corpus:
    """Split texts into sentences of tokens. Gold is dropped, because a class of a text does not apply to its tokens."""
    if corpus.texts is None:
        raise CorpusError(
            "A tagger needs sentences or texts, but these items have neither. Add the tokens or the texts."
        )
    found = tokenize_texts(corpus.texts, tokenizer)
    return Corpus(corpus.items, tokens=tuple(found.tokens.to_list()), offsets=found.offsets)
