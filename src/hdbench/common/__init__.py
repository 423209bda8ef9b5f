"""Modules that the other packages share: files, texts, progress, the Hub."""
