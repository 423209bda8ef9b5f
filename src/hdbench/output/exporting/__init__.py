"""Runs in forms that others can work with: tables of their answers."""
