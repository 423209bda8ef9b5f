"""The Gradio application for those who do not program; what it shows is computed elsewhere."""
