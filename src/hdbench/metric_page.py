"""The Gradio page of a metric's Space: a few records scored in the browser."""

import json
from pathlib import Path
from typing import Any

import evaluate
import gradio as gr

from hdbench.scoring.metric import PROTOCOLS


def metric_page(
    module: Path, title: str, *, predictions: list[Any], references: list[Any]
) -> gr.Interface:
    """A page with two JSON lists to edit and the metric's result beside them.

    Args:
        module: the metric's module for `evaluate.load`.
        title: the metric's name.
        predictions: the example's answers.
        references: the example's ground truths, in the same order.
    """

    def compute(predictions: str, references: str, protocol: str) -> dict[str, object]:
        try:
            lists = {"predictions": json.loads(predictions), "references": json.loads(references)}
            result: dict[str, object]
            result = evaluate.load(str(module), protocol).compute(**lists, details=True)
        except (ValueError, TypeError) as error:
            raise gr.Error(str(error)) from None
        return result

    def code(example: list[Any], label: str) -> gr.Code:
        return gr.Code(json.dumps(example, ensure_ascii=False, indent=2), "json", label=label)

    return gr.Interface(
        compute,
        inputs=[
            code(predictions, "Predictions"),
            code(references, "References"),
            gr.Radio(list(PROTOCOLS), value="documented", label="Protocol"),
        ],
        outputs=gr.JSON(label="Result"),
        title=title,
        description="Two JSON lists, in the same order: a model's answers and the ground truths.",
        flagging_mode="never",
        api_name="compute",
    )
