"""Limits shared by several gateways, on Redis."""
