"""Counters of limits that need no server."""
