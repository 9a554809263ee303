"""Sums of requests over time."""
