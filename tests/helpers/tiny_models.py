"""Families of models with random weights, saved as they are on the Hub but small enough for tests.

The files of a processor are written as JSON, not by its class: on a machine without torchvision
many of these classes cannot be created, and there it is the test that they are refused.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import torch
import transformers
from helpers import tiny_configs as configs
from helpers.tiny_configs import GRID, TEXT
from helpers.tiny_llava import make_tokenizer

QWEN_TOKENS = ("<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>")
QWEN_TEMPLATE = (
    "{% for message in messages %}{% if loop.first and message['role'] != 'system' %}"
    "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
    "<|im_start|>{{ message['role'] }}\n{% for content in message['content'] %}"
    "{% if content['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>"
    "{% elif 'text' in content %}{{ content['text'] }}{% endif %}{% endfor %}<|im_end|>\n"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


@dataclass(frozen=True)
class Family:
    """How a family's folder on the Hub looks, in small.

    Attributes:
        name: its name in the documentation.
        model: the name of one of its models on the Hub.
        config: makes the configuration from the ids of tokens and the text model's settings.
        image: `preprocessor_config.json`.
        processor: `processor_config.json`.
        template: what the chat template does with one turn of images and text; None where the
            family has none.
        video: `video_preprocessor_config.json`, where the processor takes video too.
        tokens: special tokens of its tokenizer.
        named: those that the tokenizer has as attributes.
        folder: the name of its folder, where that tells the family.
    """

    name: str
    model: str
    config: Callable[[Callable[[str], int], dict[str, Any]], Any]
    image: dict[str, Any]
    processor: dict[str, Any]
    template: str | None
    video: dict[str, Any] | None = None
    tokens: tuple[str, ...] = ()
    named: dict[str, str] = field(default_factory=dict)
    folder: str = "model"


def save_tiny_model(family, folder):
    """Save a model of a family with its processor's files; always the same."""
    tokenizer = make_tokenizer(family.tokens, family.named)
    text = TEXT | {
        "vocab_size": len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
    }
    config = family.config(tokenizer.convert_tokens_to_ids, text)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = transformers.AutoModelForImageTextToText.from_config(config)
        for parameter in model.parameters():  # some families begin with zeros
            if not parameter.any():
                torch.nn.init.normal_(parameter, std=0.5)
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    files = {
        "preprocessor_config.json": family.image,
        "processor_config.json": family.processor,
        "video_preprocessor_config.json": family.video,
    }
    for name, value in files.items():
        if value is not None:
            (folder / name).write_text(json.dumps(value))
    if family.template:
        (folder / "chat_template.jinja").write_text(family.template)


QWEN_PIXELS = {"min_pixels": 56 * 56, "max_pixels": 112 * 112}
ROWS = tuple(f"<row_{row}_col_{col}>" for row in range(1, 7) for col in range(1, 7))
IDEFICS_TOKENS = ("<fake_token_around_image>", "<end_of_utterance>", "<global-img>", *ROWS)
IDEFICS_TEMPLATE = (
    "{% for message in messages %}{{ message['role'] | capitalize }}"
    "{% if message['content'][0]['type'] == 'image' %}:{% else %}: {% endif %}"
    "{% for line in message['content'] %}{% if line['type'] == 'text' %}{{ line['text'] }}"
    "{% elif line['type'] == 'image' %}<image>{% endif %}{% endfor %}<end_of_utterance>\n"
    "{% endfor %}{% if add_generation_prompt %}Assistant:{% endif %}"
)
MISTRAL_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}[INST]{% for block in message['content'] %}"
    "{% if block['type'] == 'text' %}{{ block['text'] }}{% else %}[IMG]{% endif %}{% endfor %}"
    "[/INST]{% endfor %}"
)


def _chat(start, image, end, generation):
    """A template of the common form: of each turn its beginning, images and text, its end."""
    return (
        f"{{% for message in messages %}}{start}{{% for content in message['content'] %}}"
        f"{{% if content['type'] == 'image' %}}{image}{{% else %}}{{{{ content['text'] }}}}"
        f"{{% endif %}}{{% endfor %}}{end}{{% endfor %}}"
        f"{{% if add_generation_prompt %}}{generation}{{% endif %}}"
    )


def _qwen(name, model, config, image=(), **video):
    processor = f"{name.replace('-', '').replace('2.5', '2_5_')}Processor"
    return Family(
        name,
        model,
        config,
        {"image_processor_type": "Qwen2VLImageProcessor", "processor_class": processor}
        | QWEN_PIXELS
        | dict(image),
        {"processor_class": processor},
        QWEN_TEMPLATE,
        video={"video_processor_type": "Qwen2VLVideoProcessor"} | video,
        tokens=(*QWEN_TOKENS, "<|image_pad|>", "<|video_pad|>"),
    )


GLM = {
    "template": "[gMASK]<sop>"
    + _chat("<|user|>\n", "<|begin_of_image|><|image|><|end_of_image|>", "", "<|assistant|>\n"),
    "tokens": (
        *("[gMASK]", "<sop>", "<|user|>", "<|assistant|>", "<|image|>", "<|video|>"),
        *("<|begin_of_image|>", "<|end_of_image|>", "<|begin_of_video|>", "<|end_of_video|>"),
    ),
}
NUEXTRACT_TEMPLATE = QWEN_TEMPLATE.replace(
    "<|im_end|>\n{% endfor %}",
    "{% if template %}\n# Template:\n{{ template }}{% endif %}<|im_end|>\n{% endfor %}",
)

GEMMA = Family(
    "Gemma 3",
    "google/gemma-3-4b-it",
    configs.gemma3,
    {"image_processor_type": "Gemma3ImageProcessor", "size": {"height": 56, "width": 56}},
    {"processor_class": "Gemma3Processor", "image_seq_length": 4},
    "{{ bos_token }}"
    + _chat(
        "<start_of_turn>user\n", "<start_of_image>", "<end_of_turn>\n", "<start_of_turn>model\n"
    ),
    tokens=("<start_of_turn>", "<end_of_turn>"),
    named={
        "image_token": "<image_soft_token>",
        "boi_token": "<start_of_image>",
        "eoi_token": "<end_of_image>",
    },
)
GEMMA_3N = replace(
    GEMMA,
    config=configs.gemma3n,
    image=GEMMA.image
    | {"image_processor_type": "SiglipImageProcessor"}
    | {"feature_extractor_type": "Gemma3nAudioFeatureExtractor"},
    processor={"processor_class": "Gemma3nProcessor", "image_seq_length": 4},
    template=GEMMA.template.replace("<start_of_image>", "<image_soft_token>"),
    named=GEMMA.named | {f"{name}_token": f"<{name}>" for name in ("audio", "boa", "eoa")},
)

FAMILIES = (
    _qwen("Qwen2-VL", "Qwen/Qwen2-VL-2B-Instruct", configs.qwen2_vl),
    _qwen("Qwen2.5-VL", "Qwen/Qwen2.5-VL-3B-Instruct", configs.qwen2_5_vl),
    _qwen(
        "Qwen3-VL",
        "Qwen/Qwen3-VL-4B-Instruct",
        configs.qwen3_vl,
        image={"patch_size": 16},
        video_processor_type="Qwen3VLVideoProcessor",
    ),
    GEMMA,
    Family(
        "Gemma 4",
        "google/gemma-4-E2B-it",
        configs.gemma4,
        {"image_processor_type": "Gemma4ImageProcessor", "patch_size": 4, "max_soft_tokens": 70},
        {"processor_class": "Gemma4Processor"},
        "{{ bos_token }}" + _chat("<|turn>user\n", "<|image|>", "<turn|>\n", "<|turn>model\n"),
        video={"video_processor_type": "Gemma4VideoProcessor"},
        tokens=("<|turn>", "<turn|>", "<|video|>"),
        named={
            "image_token": "<|image|>",
            "boi_token": "<|image>",
            "eoi_token": "<image|>",
            "audio_token": "<|audio|>",
            "boa_token": "<|audio>",
            "eoa_token": "<audio|>",
        },
    ),
    Family(
        "SmolVLM",
        "HuggingFaceTB/SmolVLM2-2.2B-Instruct",
        configs.idefics(transformers.SmolVLMConfig),
        {
            "image_processor_type": "SmolVLMImageProcessor",
            "size": {"longest_edge": 112},
            "max_image_size": {"longest_edge": 56},
        },
        {"processor_class": "SmolVLMProcessor", "image_seq_len": 4},
        "<|im_start|>" + IDEFICS_TEMPLATE,
        video={"video_processor_type": "SmolVLMVideoProcessor"},
        tokens=("<|im_start|>", "<image>", "<video>", *IDEFICS_TOKENS),
    ),
    Family(
        "Idefics3",
        "HuggingFaceM4/Idefics3-8B-Llama3",
        configs.idefics(transformers.Idefics3Config),
        {
            "image_processor_type": "Idefics3ImageProcessor",
            "size": {"longest_edge": 112},
            "max_image_size": {"longest_edge": 56},
        },
        {"processor_class": "Idefics3Processor", "image_seq_len": 4},
        "{{ bos_token }}" + IDEFICS_TEMPLATE,
        tokens=("<image>", *IDEFICS_TOKENS),
    ),
    Family(
        "Pixtral",
        "mistral-community/pixtral-12b",
        configs.pixtral,
        {
            "image_processor_type": "PixtralImageProcessor",
            "size": {"longest_edge": 112},
            "patch_size": {"height": 14, "width": 14},
        },
        {"processor_class": "PixtralProcessor", "patch_size": 14},
        MISTRAL_TEMPLATE,
        tokens=("[INST]", "[/INST]", "[IMG]", "[IMG_BREAK]", "[IMG_END]"),
    ),
    Family(
        "Mistral 3",
        "mistralai/Mistral-Small-3.1-24B-Instruct-2503",
        configs.mistral3,
        {
            "image_processor_type": "PixtralImageProcessor",
            "size": {"longest_edge": 112},
            "patch_size": {"height": 28, "width": 28},
        },
        {"processor_class": "PixtralProcessor", "patch_size": 14, "spatial_merge_size": 2},
        MISTRAL_TEMPLATE,
        tokens=("[INST]", "[/INST]", "[IMG]", "[IMG_BREAK]", "[IMG_END]"),
    ),
    Family(
        "InternVL",
        "OpenGVLab/InternVL3-2B-hf",
        configs.internvl,
        {
            "image_processor_type": "GotOcr2ImageProcessor",
            "size": {"height": 56, "width": 56},
            "max_patches": 4,
            "crop_to_patches": True,
        },
        {"processor_class": "InternVLProcessor", "image_seq_length": 4},
        _chat("<|im_start|>user\n", "<IMG_CONTEXT>\n", "<|im_end|>\n", "<|im_start|>assistant\n"),
        video={"video_processor_type": "InternVLVideoProcessor"},
        tokens=("<|im_start|>", "<|im_end|>"),
        named={
            "start_image_token": "<img>",
            "end_image_token": "</img>",
            "context_image_token": "<IMG_CONTEXT>",
            "video_token": "<video>",
        },
    ),
    Family(
        "LLaVA-NeXT",
        "llava-hf/llava-v1.6-mistral-7b-hf",
        configs.llava_next,
        {
            "image_processor_type": "LlavaNextImageProcessor",
            "size": {"shortest_edge": 56},
            "crop_size": {"height": 56, "width": 56},
            "image_grid_pinpoints": GRID,
        },
        {
            "processor_class": "LlavaNextProcessor",
            "patch_size": 14,
            "vision_feature_select_strategy": "default",
            "num_additional_image_tokens": 1,  # CLIP's class
        },
        _chat("[INST] ", "<image>\n", " [/INST]", ""),
        tokens=("<image>",),
    ),
    Family(
        "LLaVA-OneVision",
        "llava-hf/llava-onevision-qwen2-7b-ov-hf",
        configs.llava_onevision,
        {
            "image_processor_type": "LlavaOnevisionImageProcessor",
            "size": {"height": 56, "width": 56},
            "image_grid_pinpoints": GRID,
        },
        {
            "processor_class": "LlavaOnevisionProcessor",
            "num_image_tokens": 16,
            "vision_feature_select_strategy": "full",
        },
        _chat("<|im_start|>user ", "<image>\n", "<|im_end|>", "<|im_start|>assistant\n"),
        video={"video_processor_type": "LlavaOnevisionVideoProcessor"},
        tokens=("<|im_start|>", "<|im_end|>", "<image>", "<video>"),
    ),
    Family(
        "LFM2-VL",
        "LiquidAI/LFM2-VL-1.6B",
        configs.lfm2_vl,
        {
            "image_processor_type": "Lfm2VlImageProcessor",
            "encoder_patch_size": 14,
            "tile_size": 56,
            "min_image_tokens": 4,
            "max_image_tokens": 16,
            "max_tiles": 4,
        },
        {"processor_class": "Lfm2VlProcessor"},
        "{{ bos_token }}"
        + _chat("<|im_start|>user\n", "<image>", "<|im_end|>\n", "<|im_start|>assistant\n"),
        tokens=(
            *("<|im_start|>", "<|im_end|>", "<image>", "<|image_start|>", "<|image_end|>"),
            "<|img_thumbnail|>",
            *(f"<|img_row_{row}_col_{col}|>" for row in range(1, 5) for col in range(1, 5)),
        ),
    ),
    Family(
        "GLM-4V",
        "zai-org/GLM-4.1V-9B-Thinking",
        configs.glm4v,
        {
            "image_processor_type": "Glm4vImageProcessor",
            "size": {"shortest_edge": 56 * 56, "longest_edge": 112 * 112},
        },
        {"processor_class": "Glm4vProcessor"},
        GLM["template"],
        video={"video_processor_type": "Glm4vVideoProcessor"},
        tokens=GLM["tokens"],
    ),
    Family(
        "GOT-OCR2",
        "stepfun-ai/GOT-OCR-2.0-hf",
        configs.got_ocr2,
        {"image_processor_type": "GotOcr2ImageProcessor", "size": {"height": 256, "width": 256}},
        {"processor_class": "GotOcr2Processor"},
        None,
        tokens=("<|im_start|>", "<|im_end|>", "<img>", "</img>", "<imgpad>"),
    ),
    replace(
        _qwen(
            "Qwen3.5",
            "Qwen/Qwen3.5-4B",
            configs.qwen3_5,
            image={"patch_size": 16},
            video_processor_type="Qwen3VLVideoProcessor",
        ),
        processor={"processor_class": "Qwen3VLProcessor"},
    ),
    Family(
        "GLM-OCR",
        "zai-org/GLM-OCR",
        configs.glm_ocr,
        {
            "image_processor_type": "Glm46VImageProcessor",
            "size": {"shortest_edge": 56 * 56, "longest_edge": 112 * 112},
        },
        {"processor_class": "Glm46VProcessor"},
        GLM["template"],
        video={"video_processor_type": "Glm46VVideoProcessor"},
        tokens=GLM["tokens"],
    ),
    Family(
        "LightOnOCR",
        "lightonai/LightOnOCR-1B-1025",
        configs.lighton_ocr,
        {
            "image_processor_type": "PixtralImageProcessor",
            "size": {"longest_edge": 112},
            "patch_size": {"height": 28, "width": 28},
        },
        {"processor_class": "LightOnOcrProcessor", "patch_size": 14, "spatial_merge_size": 2},
        _chat("<|im_start|>user\n", "<|image_pad|>", "<|im_end|>\n", "<|im_start|>assistant\n"),
        tokens=("<|im_start|>", "<|im_end|>"),
        named={
            "image_token": "<|image_pad|>",
            "image_break_token": "<|vision_pad|>",
            "image_end_token": "<|vision_end|>",
        },
    ),
    Family(
        "PaddleOCR-VL",
        "PaddlePaddle/PaddleOCR-VL",
        configs.paddleocr_vl,
        {
            "image_processor_type": "PaddleOCRVLImageProcessor",
            "size": {"shortest_edge": 56 * 56, "longest_edge": 112 * 112},
        },
        {"processor_class": "PaddleOCRVLProcessor"},
        "{{ bos_token }}"
        + _chat(
            *("User: ", "<|IMAGE_START|><|IMAGE_PLACEHOLDER|><|IMAGE_END|>", "\n", "Assistant:\n")
        ),
        tokens=("<|IMAGE_START|>", "<|IMAGE_END|>", "<|video_pad|>"),
        named={"image_token": "<|IMAGE_PLACEHOLDER|>"},
    ),
    Family(
        "DeepSeek-OCR 2",
        "deepseek-community/DeepSeek-OCR-2",
        configs.deepseek_ocr2,
        {"image_processor_type": "DeepseekOcr2ImageProcessor"},
        {"processor_class": "DeepseekOcr2Processor"},
        "{{ bos_token }}" + _chat("", "<image>\n", "", ""),
        named={"image_token": "<image>"},
    ),
    Family(
        "Unlimited-OCR",
        "baidu/Unlimited-OCR",
        configs.unlimited_ocr,
        {"image_processor_type": "UnlimitedOcrImageProcessor"},
        {"processor_class": "UnlimitedOcrProcessor"},
        "{{ bos_token }}" + _chat("", "<image>\n", "", ""),
        named={"image_token": "<image>"},
    ),
    Family(
        "Granite Docling",
        "ibm-granite/granite-docling-258M",
        configs.idefics(transformers.Idefics3Config),
        {
            "image_processor_type": "Idefics3ImageProcessor",
            "size": {"longest_edge": 112},
            "max_image_size": {"longest_edge": 56},
        },
        {"processor_class": "Idefics3Processor", "image_seq_len": 4},
        "{{ bos_token }}" + IDEFICS_TEMPLATE,
        tokens=("<image>", *IDEFICS_TOKENS),
        folder="granite-docling",
    ),
    Family(
        "Granite for Docling",
        "ibm-granite/granite-for-docling-500m",
        configs.granite_docling,
        {
            "image_processor_type": "GraniteDoclingImageProcessor",
            "size": {"height": 56, "width": 56},
            "max_patches": 4,
        },
        {"processor_class": "GraniteDoclingProcessor", "image_seq_len": 4},
        _chat("<|user|>", "<image>", "\n", "<|assistant|>"),
        tokens=("<|user|>", "<|assistant|>", *IDEFICS_TOKENS),
        named={"image_token": "<image>"},
    ),
    replace(
        _qwen("Qwen2.5-VL", "allenai/olmOCR-2-7B-1025", configs.qwen2_5_vl),
        name="olmOCR",
        folder="olmOCR-2",
    ),
    replace(
        _qwen("Qwen2.5-VL", "numind/NuExtract-2.0-8B", configs.qwen2_5_vl),
        name="NuExtract",
        template=NUEXTRACT_TEMPLATE,
        folder="NuExtract-2.0",
    ),
)
