"""Pure: which replica holds how much of a prompt in its KV cache, and how far that is to be believed."""
