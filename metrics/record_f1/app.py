"""The Gradio page of this metric's Space."""

from pathlib import Path

from hdbench.integrations.metric_page import metric_page

ENTRIES = [{"name": "Abegg & Cie.", "place": "Zürich"}, {"name": "Boreux", "place": "Basel"}]

demo = metric_page(
    Path(__file__).with_name("record_f1.py"),
    "Record F1",
    predictions=[{"entries": [ENTRIES[1], {"name": "Abegg & Cie.", "place": None}]}],
    references=[{"entries": ENTRIES}],
)

if __name__ == "__main__":
    demo.launch()
