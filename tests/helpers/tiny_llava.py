"""A LLaVA of random weights: the true path of a local model, small enough for tests."""

import torch
from helpers import vision  # noqa: F401  before transformers
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (
    CLIPImageProcessorPil,
    CLIPVisionConfig,
    LlamaConfig,
    LlavaConfig,
    LlavaForConditionalGeneration,
    LlavaProcessor,
    PreTrainedTokenizerFast,
)

# What a tokenizer is made from: enough for tokens of several letters, also in JSON.
TEXTS = [
    'Answer with the JSON object alone: {"type": {"type": "Reference"}, "title": "Stellingen"}',
    "Die Kunst und Wissenschaft der alten Völker, Zürich 1924, 184 Seiten, 8°",
]

CHAT_TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {% for part in message['content'] %}"
    "{% if part['type'] == 'image' %}<image>{% else %}{{ part['text'] }}{% endif %}"
    "{% endfor %}{{ '\\n' }}{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}"
)


def save_tiny_llava(folder):
    """Save one with its processor; always the same."""
    tokenizer = make_tokenizer()
    side, patch = 56, 14
    processor = LlavaProcessor(
        image_processor=CLIPImageProcessorPil(
            size={"shortest_edge": side}, crop_size={"height": side, "width": side}
        ),
        tokenizer=tokenizer,
        patch_size=patch,
        vision_feature_select_strategy="default",
        num_additional_image_tokens=1,  # CLIP's class
        chat_template=CHAT_TEMPLATE,
    )
    sizes = {
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "initializer_range": 0.5,  # large, so that different inputs have different answers
    }
    config = LlavaConfig(
        text_config=LlamaConfig(
            vocab_size=len(tokenizer),
            max_position_embeddings=4096,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
            **sizes,
        ),
        vision_config=CLIPVisionConfig(
            image_size=side, patch_size=patch, projection_dim=16, **sizes
        ),
        image_token_index=tokenizer.convert_tokens_to_ids("<image>"),
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = LlavaForConditionalGeneration(config)
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(folder)
    processor.save_pretrained(folder)


def make_tokenizer(tokens=("<image>",), named=None):
    """A small tokenizer of bytes, so that every text can be written in it.

    Args:
        tokens: its special tokens beyond those of every tokenizer.
        named: further ones, which it has as attributes.
    """
    named = named or {}
    special = ["<pad>", "<s>", "</s>", *tokens, *named.values()]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=316 + len(special),
        special_tokens=special,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(TEXTS, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="<pad>",
        bos_token="<s>",
        eos_token="</s>",
        extra_special_tokens=list(tokens),
        model_specific_special_tokens=named,
    )
