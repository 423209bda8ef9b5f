"""The Gradio page of this metric's Space."""

from pathlib import Path

from hdbench.integrations.metric_page import metric_page

demo = metric_page(
    Path(__file__).with_name("sciencemeta_accuracy.py"),
    "ScienceMeta accuracy",
    predictions=[{"title": "On growth and form", "author": "D. Thompson"}],
    references=[
        {"kind": "paper", "title": "On Growth and Form", "author": "D. Thompson, J. T. Bonner"},
    ],
)

if __name__ == "__main__":
    demo.launch()
