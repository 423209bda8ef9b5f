"""Reading answers as models and people really write them."""
