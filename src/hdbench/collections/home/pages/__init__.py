"""The pages of a collection, a module for each stage."""
