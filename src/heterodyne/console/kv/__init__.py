"""Where KV is held, how it moves between pools, and what that is worth."""
