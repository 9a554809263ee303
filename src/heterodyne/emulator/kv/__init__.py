"""KV events of emulated engines."""
