"""Logs of requests, read as traffic."""
