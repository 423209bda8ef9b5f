"""llama.cpp's server with a model of random weights and without vision.

`python llama_server.py DIR` saves the model there. It says its address on standard output, and
runs until it is killed.
"""

import signal
import sys
from pathlib import Path

import gguf
import numpy as np
import xllamacpp

WIDTH, INNER, HEADS, ROOM = 32, 64, 2, 512
LETTERS = [bytes([letter]) for letter in b"abcdefghijklmnopqrstuvwxyz"]
TOKENS = [b"<unk>", b"<s>", b"</s>", *(b"<0x%02X>" % byte for byte in range(256)), *LETTERS]
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6
TYPES = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256, *[NORMAL] * len(LETTERS)]


def save_tiny_llama(path):
    """Save a Llama with one layer; always the same."""
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(ROOM)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_rope_dimension_count(WIDTH // HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(TOKENS)
    writer.add_token_scores([0.0] * len(TOKENS))
    writer.add_token_types(TYPES)
    writer.add_unk_token_id(0)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template("{% for message in messages %}{{ message['content'] }}{% endfor %}")
    random = np.random.default_rng(0)
    shapes = {
        "token_embd": (len(TOKENS), WIDTH),
        "output": (len(TOKENS), WIDTH),
        **{f"blk.0.attn_{name}": (WIDTH, WIDTH) for name in ("q", "k", "v", "output")},
        "blk.0.ffn_gate": (INNER, WIDTH),
        "blk.0.ffn_up": (INNER, WIDTH),
        "blk.0.ffn_down": (WIDTH, INNER),
    }
    for name, shape in shapes.items():
        writer.add_tensor(f"{name}.weight", random.normal(0, 0.2, shape).astype(np.float32))
    for name in ("output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"):
        writer.add_tensor(f"{name}.weight", np.ones(WIDTH, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    path = Path(sys.argv[1], "tiny.gguf")
    save_tiny_llama(path)
    params = xllamacpp.CommonParams()
    params.model.path = str(path)
    params.n_ctx, params.n_parallel, params.port, params.warmup = ROOM, 1, 0, False
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    signal.pause()


if __name__ == "__main__":
    main()
