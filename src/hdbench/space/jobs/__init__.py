"""What is done with a visitor's file."""
