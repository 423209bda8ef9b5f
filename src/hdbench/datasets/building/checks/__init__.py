"""What is wrong with a benchmark's folder in the plain form: every problem at once."""
