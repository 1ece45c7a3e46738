"""A random BERT of two small layers, and a vocabulary of word pieces, as a folder of Hugging Face files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def write_tiny_bert(folder: Path, words: Iterable[str], *, places: int = 32, seed: int = 0) -> Path:
    """Words in lower case are whole pieces; all others fall into letters, and strange ones are unknown."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    pieces = [*marks, *dict.fromkeys([*words, *LETTERS, *(f"##{letter}" for letter in LETTERS)])]
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(pieces) + "\n")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        config = BertConfig(
            vocab_size=len(pieces),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=places,
            initializer_range=0.1,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
        BertModel(config).save_pretrained(folder)
    BertTokenizer(vocab=str(vocabulary)).save_pretrained(folder)
    return folder
