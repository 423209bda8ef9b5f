"""The tabs of the Space, and what they contain."""
