"""A decoder served by JAX on whatever XLA drives here, in vLLM's words; for parity, and where nothing faster is."""
