"""Recorded requests under another policy."""
