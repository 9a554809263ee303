"""KV on its way between replicas, stores and memory, in virtual time."""
