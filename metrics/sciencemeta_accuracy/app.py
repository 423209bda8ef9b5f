"""The Gradio page of this metric's Space: a few records scored in the browser."""

import json
from pathlib import Path

import evaluate
import gradio as gr

EXAMPLE = [{"kind": "paper", "title": "On Growth and Form", "author": "D. Thompson, J. T. Bonner"}]
ANSWER = [{"title": "On growth and form", "author": "D. Thompson"}]


def compute(predictions: str, references: str, protocol: str) -> dict[str, object]:
    """The metric's result for two JSON lists of records."""
    try:
        records = {"predictions": json.loads(predictions), "references": json.loads(references)}
        module = Path(__file__).with_name("sciencemeta_accuracy.py")
        return evaluate.load(str(module), protocol).compute(**records, details=True)
    except (ValueError, TypeError) as error:
        raise gr.Error(str(error)) from None


demo = gr.Interface(
    compute,
    inputs=[
        gr.Code(json.dumps(ANSWER, ensure_ascii=False, indent=2), "json", label="Predictions"),
        gr.Code(json.dumps(EXAMPLE, ensure_ascii=False, indent=2), "json", label="References"),
        gr.Radio(["documented", "published"], value="documented", label="Protocol"),
    ],
    outputs=gr.JSON(label="Result"),
    title="ScienceMeta accuracy",
    description="Two JSON lists of records, in the same order: a model's answers and the truths.",
    flagging_mode="never",
    api_name="compute",
)

if __name__ == "__main__":
    demo.launch()
