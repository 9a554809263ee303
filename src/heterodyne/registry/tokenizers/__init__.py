"""Tokenizers, as the files that transformers reads and as the fields of a GGUF."""
