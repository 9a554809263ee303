"""Adapters: one file per way of running replicas."""
