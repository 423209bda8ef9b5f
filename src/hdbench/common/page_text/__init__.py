"""Reading the text of pages as OCR programs, Transkribus and eScriptorium export it."""
