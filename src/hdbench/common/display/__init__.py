"""Figures for papers, and what notebooks and pages show, from plain rows of numbers."""
