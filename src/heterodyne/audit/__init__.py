"""The audit log: append-only, hash-chained under a key, verifiable, anchored outside."""
