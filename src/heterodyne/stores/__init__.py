"""Adapters to databases: one file per thing kept and kind of server."""
