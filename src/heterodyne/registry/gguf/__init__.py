"""GGUF files: what they say of their model, and how they are read and written."""
