"""What a whole collection will cost: work and money, for each model and for the rule."""
