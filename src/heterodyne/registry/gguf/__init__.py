"""What a GGUF file says of its model."""
