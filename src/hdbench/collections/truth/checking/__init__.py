"""Single values that people read from the images, blind, to find out how sure answers are."""
