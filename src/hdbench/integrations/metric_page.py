"""The Gradio page of a metric's Space: a few records scored in the browser."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import evaluate
import gradio as gr

from hdbench.common.bounds import MAX_PASTED
from hdbench.common.jsonio import parse_json
from hdbench.errors import HdbenchError, escaped
from hdbench.integrations.evaluate_module import configuration_names


def metric_page(
    module: Path, title: str, *, predictions: list[Any], references: list[Any]
) -> gr.Interface:
    """Return a page with two JSON lists to edit and the metric's result beside them.

    Args:
        module: the metric's module for `evaluate.load`.
        title: the metric's name.
        predictions: the example's answers.
        references: the example's ground truths, in the same order.
    """

    def compute(predictions: str, references: str, configuration: str) -> dict[str, object]:
        try:
            lists = _lists({"predictions": predictions, "references": references})
            metric = evaluate.load(str(module), configuration)
            result: dict[str, object] = metric.compute(**lists, details=True)
        except ValueError as error:
            raise gr.Error(escaped(str(error)), print_exception=False) from error
        return result

    def code(example: list[Any], label: str) -> gr.Code:
        return gr.Code(json.dumps(example, ensure_ascii=False, indent=2), "json", label=label)

    return gr.Interface(
        compute,
        inputs=[
            code(predictions, "Predictions"),
            code(references, "References"),
            gr.Radio(
                configuration_names(module.stem), value="documented", label="Protocol or benchmark"
            ),
        ],
        outputs=gr.JSON(label="Result"),
        title=title,
        description="Two JSON lists, in the same order: a model's answers and the ground truths.",
        flagging_mode="never",
        analytics_enabled=False,
        api_name="compute",
    )


def _lists(texts: Mapping[str, str]) -> dict[str, list[Any]]:
    """Return the lists in the page's fields, of equal length."""
    lists = {}
    for name, text in texts.items():
        field = name.capitalize()
        if len(text) > MAX_PASTED:
            raise HdbenchError(
                "{field}: more than {most:,} characters", field=field, most=MAX_PASTED
            )
        try:
            values = parse_json(text)
        except ValueError as error:
            raise HdbenchError("{field}: not JSON: {why}", field=field, why=error) from error
        if not isinstance(values, list):
            raise HdbenchError("{field}: must be a list in [ ]", field=field)
        lists[name] = values
    predictions, references = lists.values()
    if len(predictions) != len(references):
        raise HdbenchError(
            "{predictions} predictions and {references} references: give one each",
            predictions=len(predictions),
            references=len(references),
        )
    return lists
