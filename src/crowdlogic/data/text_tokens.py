"""Texts cut into tokens, each with its place in the text: the tokens to which all annotators' spans are aligned.

Every tokeniser keeps a letter together with its combining marks, and leaves out white space, control characters and
invisible format characters such as right-to-left marks. What it cuts depends on the text alone, so reading a text again
gives the same tokens. Positions are counted in characters (Unicode code points), as Python does.

- `words`: runs of letters and digits, every other character by itself. Scripts written without spaces between words
  (Chinese, Japanese, Thai, Lao, Khmer, Burmese) are cut into characters; an emoji of several code points is one token.
- `whitespace`: what stands between white space.
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
"""Patterns whose matches, one after the other, are the whole text; those that begin with a gap are no tokens."""

TEXTS_AT_ONCE = 1 << 11
"""Number of texts that are tokenised at a time, because intermediate results need several times the memory of the
texts."""


@dataclass(frozen=True, eq=False)
class TokenizedTexts:
    """Texts and their tokens. Axes: s text, i token over all texts.

    Attributes:
        tokens: tokens[i].
        bounds: bounds[i] = (start, end), the place of token i in its text, in characters; the end is exclusive.
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


# Texts as sentences of tokens, where a tagger is asked about plain texts.


def tokenize_corpus(corpus: Corpus, tokenizer: Tokenizer | str = Tokenizer.words) -> Corpus:
    """Return texts as sentences of tokens. A class of a text does not apply to its tokens, so gold is dropped."""
    if corpus.texts is None:
        raise CorpusError("These items have neither tokens nor texts. Give a tagger sentences, or texts.")
    found = tokenize_texts(corpus.texts, tokenizer)
    return Corpus(corpus.items, tokens=tuple(found.tokens.to_list()), offsets=found.offsets)
