"""What vLLM's server shows."""
