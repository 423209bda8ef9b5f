"""The Gradio page of this metric's Space."""

from pathlib import Path

from hdbench.integrations.metric_page import metric_page

demo = metric_page(
    Path(__file__).with_name("zettel_f1.py"),
    "Zettel F1",
    predictions=[
        {"author": {"last_name": "Müller"}, "publication": {"year": 1975, "place": ""}},
    ],
    references=[
        {"author": {"last_name": "Müller"}, "publication": {"year": 1957, "place": "Stuttgart"}},
    ],
)

if __name__ == "__main__":
    demo.launch()
