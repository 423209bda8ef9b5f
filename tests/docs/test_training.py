"""Training, as the page on Python shows it: a tiny model learns its answers by heart."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from helpers.pages import blocks
from helpers.plain_evaluate import evaluate
from helpers.tiny_llava import make_tokenizer
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
)

from hdbench.about import installed_folder

pytestmark = pytest.mark.nightly

PAGE = Path(__file__).parents[2] / "docs/python.md"
ANSWERS = {"a": {"title": "Kunst"}, "b": {"title": "Stellingen", "year": 1924}}
TRUTHS = {"a": {"title": "Kunst"}, "b": {"title": "Stellingen", "year": 1925}}
OPTIONS = {
    "max_steps": 150,
    "learning_rate": 0.01,
    "per_device_train_batch_size": 2,
    "per_device_eval_batch_size": 1,  # rows of different lengths, which the trainer pads
    "save_strategy": "no",
    "report_to": "none",
    "use_cpu": True,
    "disable_tqdm": True,
    "seed": 1,
}


def padded(examples):
    """A batch; each column is padded on the right."""
    batch = {}
    for name, padding in (("input_ids", 0), ("attention_mask", 0), ("labels", -100)):
        rows = [torch.tensor(example[name]) for example in examples]
        batch[name] = torch.nn.utils.rnn.pad_sequence(rows, True, padding)
    return batch


def questions(tokenizer, records):
    """Rows of a data set: each name is to be answered with its record."""
    return [
        {
            "input_ids": (tokens := tokenizer(name).input_ids),
            "attention_mask": [1] * len(tokens),
            "labels": [*tokenizer(json.dumps(record)).input_ids, tokenizer.eos_token_id],
        }
        for name, record in records.items()
    ]


def make_bart(tokenizer):
    torch.manual_seed(0)
    side = {"layers": 1, "attention_heads": 2, "ffn_dim": 64}
    return BartForConditionalGeneration(
        BartConfig(
            vocab_size=len(tokenizer),
            d_model=32,
            max_position_embeddings=128,
            decoder_start_token_id=2,
            forced_eos_token_id=None,
            pad_token_id=0,
            bos_token_id=1,
            eos_token_id=2,
            **{
                f"{part}_{name}": size
                for part in ("encoder", "decoder")
                for name, size in side.items()
            },
        )
    )


def test_what_a_model_in_training_writes_is_scored(tmp_path, monkeypatch):
    torch.set_num_threads(1)
    tokenizer = make_tokenizer()
    (tmp_path / "hdb").symlink_to(installed_folder("metrics"))
    monkeypatch.chdir(tmp_path)
    names = {
        "evaluate": evaluate,
        "np": np,
        "Seq2SeqTrainer": Seq2SeqTrainer,
        "Seq2SeqTrainingArguments": Seq2SeqTrainingArguments,
        "tokenizer": tokenizer,
        "model": make_bart(tokenizer),
        "options": OPTIONS,
        "collate": padded,
        "cards": questions(tokenizer, ANSWERS),
        "other_cards": questions(tokenizer, TRUTHS),
    }
    [page] = [block.text for block in blocks(PAGE, "Score while you train")]
    exec(page, names)
    figures = names["trainer"].state.log_history[-1]
    assert figures["eval_f1_micro"] == pytest.approx(2 / 3)  # of three values, two are right
    assert figures["eval_items_perfect"] == 1
