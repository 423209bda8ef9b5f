"""The Gradio page of this metric's Space: a few pages scored in the browser."""

import json
from pathlib import Path

import evaluate
import gradio as gr

SECTION = "Es werden zum Verkauff offerirt"
TEXT = "5. Eine zimblich wohl-conditionirte Violino di Gamba"
AD = {"date": "1731-01-02", "tags_section": SECTION, "text": TEXT}
EXAMPLE = [{"advertisements": [AD]}]
ANSWER = [{"advertisements": [{**AD, "text": TEXT.replace("zimblich", "zimlich")}]}]


def compute(predictions: str, references: str, protocol: str) -> dict[str, object]:
    """The metric's result for two JSON lists of pages."""
    try:
        pages = {"predictions": json.loads(predictions), "references": json.loads(references)}
        module = Path(__file__).with_name("avisblatt_cer.py")
        return evaluate.load(str(module), protocol).compute(**pages, details=True)
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
    title="Avisblatt CER",
    description="Two JSON lists of pages, in the same order: a model's answers and the truths.",
    flagging_mode="never",
    api_name="compute",
)

if __name__ == "__main__":
    demo.launch()
