"""Families of models that are converted: which tensors they have, of which shape, and what GGUF calls them."""
