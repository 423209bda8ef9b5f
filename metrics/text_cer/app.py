"""The Gradio page of this metric's Space."""

from pathlib import Path

from hdbench.integrations.metric_page import metric_page

demo = metric_page(
    Path(__file__).with_name("text_cer.py"),
    "Text CER",
    predictions=[{"text": "Eine zimlich wohl-conditionirte Violino di Gamba"}],
    references=[{"text": "Eine zimblich wohl-conditionirte Violino di Gamba"}],
)

if __name__ == "__main__":
    demo.launch()
