"""KV that moves between replicas and stores: whether that pays for one request, and what came of it."""
