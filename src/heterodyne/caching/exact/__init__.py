"""Requests that are the same request, byte for byte or spelled differently."""
