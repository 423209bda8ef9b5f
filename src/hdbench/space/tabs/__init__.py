"""The tabs of the Space, and what stands in them."""
