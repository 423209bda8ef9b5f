"""Runs in the forms that others work with: tables of their answers."""
