"""The layer between the Space and its visitors."""
