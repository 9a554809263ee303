"""How engines exchange KV, each in its own protocol."""
