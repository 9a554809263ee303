"""What TensorRT-LLM's server shows."""
