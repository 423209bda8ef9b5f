"""The Gradio page of this metric's Space."""

from pathlib import Path

from hdbench.integrations.metric_page import metric_page

demo = metric_page(
    Path(__file__).with_name("letters_f1.py"),
    "Letters F1",
    predictions=[
        {
            "send_date": ["1929-03-12"],
            "sender_persons": ["Frau Muster"],
            "receiver_persons": ["Vorbild & Co."],
        }
    ],
    references=[
        {
            "send_date": ["1929-03-12"],
            "sender_persons": [{"name": "Muster, Anna", "alternateName": ["Frau Muster"]}],
            "receiver_persons": [{"name": "Vorbild, Otto", "alternateName": ["Herr Vorbild"]}],
        }
    ],
)

if __name__ == "__main__":
    demo.launch()
