"""Finished records: MARC, Dublin Core and CSV, new or into those that exist."""
