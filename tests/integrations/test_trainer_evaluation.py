"""`compute_metrics` in real evaluations of tiny models that learned their answers by heart."""

import json
from pathlib import Path

import pytest
import torch
from helpers.pages import blocks
from helpers.tiny_llava import make_tokenizer
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    LlamaConfig,
    LlamaForCausalLM,
    Seq2SeqTrainer,
    Seq2SeqTrainingArguments,
    Trainer,
    TrainingArguments,
)

from hdbench.integrations.trainer_metrics import best_tokens, compute_metrics

pytestmark = pytest.mark.nightly

DOCS = Path(__file__).parents[2] / "docs"
ANSWERS = {"a": {"title": "Kunst"}, "b": {"title": "Stellingen", "year": 1924}}
TRUTHS = {"a": {"title": "Kunst"}, "b": {"title": "Stellingen", "year": 1925}}
F1 = 2 / 3  # of three values, two are right
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
SIZES = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


@pytest.fixture(scope="module")
def tokenizer():
    torch.set_num_threads(1)
    return make_tokenizer()


def ids(tokenizer, record):
    return [*tokenizer(json.dumps(record)).input_ids, tokenizer.eos_token_id]


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
            "labels": ids(tokenizer, record),
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
            **SIZES,
            **{
                f"{part}_{name}": size
                for part in ("encoder", "decoder")
                for name, size in side.items()
            },
        )
    )


def test_answers_that_a_model_generates_are_scored(tokenizer, tmp_path):
    trainer = Seq2SeqTrainer(
        make_bart(tokenizer),
        Seq2SeqTrainingArguments(
            str(tmp_path), predict_with_generate=True, generation_max_length=64, **OPTIONS
        ),
        data_collator=padded,
        train_dataset=questions(tokenizer, ANSWERS),
        eval_dataset=questions(tokenizer, TRUTHS),
        processing_class=tokenizer,
        compute_metrics=compute_metrics("zettel_f1", tokenizer),
    )
    trainer.train()
    figures = trainer.evaluate()
    assert figures["eval_f1_micro"] == pytest.approx(F1)
    assert (figures["eval_items"], figures["eval_answered"]) == (2, 2)
    assert trainer.state.log_history[-1]["eval_f1_micro"] == pytest.approx(F1)


def test_the_page_shows_how_it_is_used(tokenizer, own_folder):
    page = [block.text for block in blocks(DOCS / "training.md") if block.language == "python"][-1]
    names = {
        "Seq2SeqTrainer": Seq2SeqTrainer,
        "Seq2SeqTrainingArguments": Seq2SeqTrainingArguments,
        "model": make_bart(tokenizer),
        "collate": padded,
        "cards": questions(tokenizer, TRUTHS),
        "tokenizer": tokenizer,
    }
    exec(page, names)
    assert names["trainer"].state.log_history[-1]["eval_f1_micro"] == 0  # it has learned nothing


def test_the_likeliest_tokens_of_a_causal_model_are_scored(tokenizer, tmp_path):
    def examples(records):
        return [
            {
                "input_ids": (prompt := tokenizer(f"user: {name}").input_ids)
                + (answer := ids(tokenizer, record)),
                "attention_mask": [1] * len(prompt + answer),
                "labels": [-100] * len(prompt) + answer,
            }
            for name, record in records.items()
        ]

    torch.manual_seed(0)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=1,
            num_attention_heads=2,
            **SIZES,
        )
    )
    trainer = Trainer(
        model,
        TrainingArguments(str(tmp_path), **OPTIONS),
        data_collator=padded,
        train_dataset=examples(ANSWERS),
        eval_dataset=examples(ANSWERS),
        processing_class=tokenizer,
        compute_metrics=compute_metrics("text_cer", tokenizer, field="text", causal=True),
        preprocess_logits_for_metrics=best_tokens,
    )
    trainer.train()
    figures = trainer.evaluate()
    assert figures["eval_cer"] == 0
    assert figures["eval_items"] == 2
