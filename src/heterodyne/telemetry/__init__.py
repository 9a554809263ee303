"""Metric names, structured logs and the request record."""
