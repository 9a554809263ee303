"""A small, slow and exact pass through a model, which others are held against."""
