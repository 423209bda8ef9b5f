"""The field through which all of a visitor's files come."""

from pathlib import Path
from typing import Any

import gradio as gr


def upload_field(**looks: Any) -> gr.File:
    """A field for a file that a visitor uploads, not for an address: the server fetches nothing.

    Args:
        looks: see `gr.File`.
    """
    file = gr.File(**looks)
    keep = file.async_move_resource_to_block_cache

    async def keep_uploaded(url_or_file_path: str | Path | None) -> str | None:
        if "://" in str(url_or_file_path):
            raise gr.Error("upload the file itself, not its address", print_exception=False)
        return await keep(url_or_file_path)

    file.async_move_resource_to_block_cache = keep_uploaded  # type: ignore[method-assign]
    return file
