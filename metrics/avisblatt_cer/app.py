"""The Gradio page of this metric's Space."""

from pathlib import Path

from hdbench.integrations.metric_page import metric_page

AD = {
    "date": "1731-01-02",
    "tags_section": "Es werden zum Verkauff offerirt",
    "text": "5. Eine zimblich wohl-conditionirte Violino di Gamba",
}

demo = metric_page(
    Path(__file__).with_name("avisblatt_cer.py"),
    "Avisblatt CER",
    predictions=[{"advertisements": [{**AD, "text": AD["text"].replace("zimblich", "zimlich")}]}],
    references=[{"advertisements": [AD]}],
)

if __name__ == "__main__":
    demo.launch()
