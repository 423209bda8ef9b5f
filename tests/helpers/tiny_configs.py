"""Configurations of models small enough for tests, a function for each family.

Each takes a function that gives a token's id, and the settings of the text model.
"""

import transformers

SIZES = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "initializer_range": 0.5,  # large, so that different inputs have different answers
}
TEXT = SIZES | {"num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 8192}
GRID = [[56, 112], [112, 56], [112, 112]]


def qwen2_vl(ids, text):
    return transformers.Qwen2VLConfig(
        text_config=text | {"rope_parameters": _mrope([2, 3, 3])},
        vision_config={"depth": 2, "embed_dim": 32, "hidden_size": 32, "num_heads": 2},
        **_qwen_ids(ids),
    )


def qwen2_5_vl(ids, text):
    return transformers.Qwen2_5_VLConfig(
        text_config=text | {"rope_parameters": _mrope([2, 3, 3])},
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "out_hidden_size": 32,
            "num_heads": 2,
            "intermediate_size": 64,
            "window_size": 56,
            "fullatt_block_indexes": [1],
        },
        **_qwen_ids(ids),
    )


def qwen3_vl(ids, text):
    return transformers.Qwen3VLConfig(
        text_config=text | {"rope_parameters": _mrope([4, 2, 2])},
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "out_hidden_size": 32,
            "num_heads": 2,
            "intermediate_size": 64,
            "deepstack_visual_indexes": [0],
            "patch_size": 16,
            "num_position_embeddings": 64,
        },
        **_qwen_ids(ids),
    )


def qwen3_5(ids, text):
    return transformers.Qwen3_5Config(
        text_config=text
        | {
            "rope_parameters": _mrope([4, 2, 2]) | {"partial_rotary_factor": 1.0},
            "layer_types": ["linear_attention", "full_attention"],
            "linear_key_head_dim": 16,
            "linear_value_head_dim": 16,
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 2,
        },
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "out_hidden_size": 32,
            "num_heads": 2,
            "intermediate_size": 64,
            "patch_size": 16,
            "num_position_embeddings": 64,
        },
        **_qwen_ids(ids),
    )


def _mrope(section):
    return {"rope_type": "default", "rope_theta": 10_000.0, "mrope_section": section}


def _qwen_ids(ids):
    return {
        "image_token_id": ids("<|image_pad|>"),
        "video_token_id": ids("<|video_pad|>"),
        "vision_start_token_id": ids("<|vision_start|>"),
        "vision_end_token_id": ids("<|vision_end|>"),
    }


def gemma3(ids, text):
    return transformers.Gemma3Config(
        text_config=text
        | {
            "layer_types": ["sliding_attention", "full_attention"],
            "sliding_window": 512,
            "query_pre_attn_scalar": 1,
            "tie_word_embeddings": False,
        },
        vision_config=SIZES | {"image_size": 56, "patch_size": 14},
        mm_tokens_per_image=4,
        boi_token_index=ids("<start_of_image>"),
        eoi_token_index=ids("<end_of_image>"),
        image_token_index=ids("<image_soft_token>"),
        tie_word_embeddings=False,
        initializer_range=SIZES["initializer_range"],
    )


def gemma3n(ids, text):
    """With the smallest tower that timm has, instead of one of 300 million parameters."""
    return transformers.Gemma3nConfig(
        text_config=text
        | {"vocab_size_per_layer_input": text["vocab_size"], "num_kv_shared_layers": 0},
        vision_config={"architecture": "test_resnet", "hidden_size": 96, "initializer_range": 0.5},
        audio_config={"hidden_size": 32, "conf_num_hidden_layers": 1},
        vision_soft_tokens_per_image=4,
        image_token_id=ids("<image_soft_token>"),
        audio_token_id=ids("<audio>"),
        tie_word_embeddings=False,
        initializer_range=SIZES["initializer_range"],
    )


def gemma4(ids, text):
    return transformers.Gemma4Config(
        text_config=text
        | {
            "layer_types": ["sliding_attention", "full_attention"],
            "sliding_window": 512,
            "global_head_dim": 16,
            "hidden_size_per_layer_input": 8,
            "vocab_size_per_layer_input": text["vocab_size"],
            "tie_word_embeddings": False,
        },
        vision_config=SIZES
        | {
            "head_dim": 16,
            "num_key_value_heads": 2,
            "patch_size": 4,
            "pooling_kernel_size": 3,
            "position_embedding_size": 256,
        },
        boi_token_id=ids("<|image>"),
        eoi_token_id=ids("<image|>"),
        image_token_id=ids("<|image|>"),
        video_token_id=ids("<|video|>"),
        boa_token_id=ids("<|audio>"),
        eoa_token_index=ids("<audio|>"),
        audio_token_id=ids("<|audio|>"),
        tie_word_embeddings=False,
        initializer_range=SIZES["initializer_range"],
    )


def idefics(config):
    """Of SmolVLM and of Idefics3, which have the same settings."""
    return lambda ids, text: config(
        text_config=text | {"model_type": "llama"},
        vision_config=SIZES | {"image_size": 56, "patch_size": 14},
        image_token_id=ids("<image>"),
        scale_factor=2,
    )


def pixtral(ids, text):
    return transformers.LlavaConfig(
        text_config=text | {"model_type": "mistral"},
        vision_config=SIZES | {"model_type": "pixtral", "image_size": 112, "patch_size": 14},
        image_token_index=ids("[IMG]"),
        vision_feature_layer=-1,
        vision_feature_select_strategy="full",
    )


def mistral3(ids, text):
    return transformers.Mistral3Config(
        text_config=text | {"model_type": "mistral"},
        vision_config=SIZES | {"model_type": "pixtral", "image_size": 112, "patch_size": 14},
        image_token_index=ids("[IMG]"),
        spatial_merge_size=2,
    )


def internvl(ids, text):
    return transformers.InternVLConfig(
        text_config=text | {"model_type": "qwen2"},
        vision_config=SIZES | {"image_size": [56, 56], "patch_size": [14, 14]},
        image_token_id=ids("<IMG_CONTEXT>"),
        image_seq_length=4,
    )


def llava_next(ids, text):
    return transformers.LlavaNextConfig(
        text_config=text | {"model_type": "llama"},
        vision_config=SIZES
        | {
            "model_type": "clip_vision_model",
            "projection_dim": 16,
            "image_size": 56,
            "patch_size": 14,
        },
        image_token_index=ids("<image>"),
        image_grid_pinpoints=GRID,
        image_seq_length=16,
    )


def llava_onevision(ids, text):
    return transformers.LlavaOnevisionConfig(
        text_config=text | {"model_type": "qwen2"},
        vision_config=SIZES
        | {
            "model_type": "siglip_vision_model",
            "vision_use_head": False,
            "image_size": 56,
            "patch_size": 14,
        },
        image_token_index=ids("<image>"),
        video_token_index=ids("<video>"),
        image_grid_pinpoints=GRID,
    )


def lfm2_vl(ids, text):
    return transformers.Lfm2VlConfig(
        text_config=text | {"model_type": "lfm2", "layer_types": ["full_attention", "conv"]},
        vision_config=SIZES
        | {
            "model_type": "siglip2_vision_model",
            "vision_use_head": False,
            "patch_size": 14,
            "num_patches": 16,
        },
        image_token_id=ids("<image>"),
        projector_hidden_size=32,
        tie_word_embeddings=False,
        initializer_range=SIZES["initializer_range"],
    )


def glm4v(ids, text):
    return transformers.Glm4vConfig(
        text_config=text | {"rope_parameters": _mrope([2, 3, 3]) | {"partial_rotary_factor": 1.0}},
        vision_config={
            "depth": 2,
            "hidden_size": 32,
            "out_hidden_size": 32,
            "num_heads": 2,
            "intermediate_size": 64,
            "image_size": 56,
            "patch_size": 14,
        },
        image_token_id=ids("<|image|>"),
        video_token_id=ids("<|video|>"),
        image_start_token_id=ids("<|begin_of_image|>"),
        image_end_token_id=ids("<|end_of_image|>"),
        video_start_token_id=ids("<|begin_of_video|>"),
        video_end_token_id=ids("<|end_of_video|>"),
    )


def glm_ocr(ids, text):
    config = glm4v(ids, text).to_dict()
    for name in ("model_type", "architectures", "dtype", "transformers_version"):
        config.pop(name, None)
    for part in ("text_config", "vision_config"):
        config[part].pop("model_type")
    return transformers.GlmOcrConfig(**config)


def lighton_ocr(ids, text):
    return transformers.LightOnOcrConfig(
        text_config=text | {"model_type": "qwen3"},
        vision_config=SIZES | {"model_type": "pixtral", "image_size": 112, "patch_size": 14},
        image_token_id=ids("<|image_pad|>"),
        spatial_merge_size=2,
        tie_word_embeddings=False,
    )


def paddleocr_vl(ids, text):
    return transformers.PaddleOCRVLConfig(
        text_config=text | {"rope_parameters": _mrope([2, 3, 3]), "tie_word_embeddings": False},
        vision_config=SIZES | {"image_size": 56, "patch_size": 14},
        image_token_id=ids("<|IMAGE_PLACEHOLDER|>"),
        video_token_id=ids("<|video_pad|>"),
        vision_start_token_id=ids("<|IMAGE_START|>"),
        vision_end_token_id=ids("<|IMAGE_END|>"),
        tie_word_embeddings=False,
    )


SAM = {
    "hidden_size": 32,
    "output_channels": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "mlp_dim": 64,
    "global_attn_indexes": [],
    "downsample_channels": [16, 32],
    "initializer_range": 0.5,
}
EXPERTS = {
    "head_dim": 16,
    "n_routed_experts": 4,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "mlp_layer_types": ["dense", "sparse"],
}


def deepseek_ocr2(ids, text):
    return transformers.DeepseekOcr2Config(
        text_config=text | EXPERTS,
        vision_config={"sam_config": SAM, "encoder_config": SIZES | {"num_key_value_heads": 2}},
        image_token_id=ids("<image>"),
    )


def unlimited_ocr(ids, text):
    return transformers.UnlimitedOcrConfig(
        text_config=text | EXPERTS | {"sliding_window": 128},
        vision_config={"sam_config": SAM, "encoder_config": SIZES},
        image_token_id=ids("<image>"),
    )


def granite_docling(ids, text):
    return transformers.GraniteDoclingConfig(
        text_config=text
        | {
            "tie_word_embeddings": False,
            "embedding_multiplier": 1.0,
            "logits_scaling": 1.0,
            "residual_multiplier": 1.0,
            "attention_multiplier": 0.25,
        },
        vision_config=SIZES
        | {
            "image_size": 56,
            "patch_size": 14,
            "out_hidden_size": 32,
            "scale_factor": 2,
            "use_fine_route": False,
        },
        image_token_id=ids("<image>"),
        tie_word_embeddings=False,
    )


def got_ocr2(ids, text):
    return transformers.GotOcr2Config(
        text_config=text | {"model_type": "qwen2"},
        vision_config={
            "hidden_size": 32,
            "output_channels": 16,
            "num_hidden_layers": 2,
            "mlp_dim": 64,
            # An image is 256 tokens in any case: patches of 4 pixels, and a sixteenth of them.
            "num_attention_heads": 2,
            "image_size": 256,
            "patch_size": 4,
            "global_attn_indexes": [],
            "initializer_range": 0.5,
        },
        image_token_index=ids("<imgpad>"),
    )
