"""What stands between the Space and its visitors."""
