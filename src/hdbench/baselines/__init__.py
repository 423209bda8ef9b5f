"""Tesseract's words, and the plain rules that make records of them."""
