"""Presidio, an extra: its patterns, and names and places where a model of spaCy is installed."""
