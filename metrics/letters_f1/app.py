"""The Gradio page of this metric's Space: a few letters scored in the browser."""

import json
from pathlib import Path

import evaluate
import gradio as gr

EXAMPLE = [
    {
        "send_date": ["1929-03-12"],
        "sender_persons": [{"name": "Muster, Anna", "alternateName": ["Frau Muster"]}],
        "receiver_persons": [{"name": "Vorbild, Otto", "alternateName": ["Herr Vorbild"]}],
    }
]
ANSWER = [
    {
        "send_date": ["1929-03-12"],
        "sender_persons": ["Frau Muster"],
        "receiver_persons": ["Vorbild & Co."],
    }
]


def compute(predictions: str, references: str, protocol: str) -> dict[str, object]:
    """The metric's result for two JSON lists of letters."""
    try:
        letters = {"predictions": json.loads(predictions), "references": json.loads(references)}
        module = Path(__file__).with_name("letters_f1.py")
        return evaluate.load(str(module), protocol).compute(**letters, details=True)
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
    title="Letters F1",
    description="Two JSON lists of letters, in the same order: a model's answers and the truths.",
    flagging_mode="never",
    api_name="compute",
)

if __name__ == "__main__":
    demo.launch()
