"""Figures for papers and notebooks, and marks in pages, from plain rows of numbers."""
