"""A chat with a model, and what was decided for it."""
