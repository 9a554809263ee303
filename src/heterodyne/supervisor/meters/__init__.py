"""Metrics that only the supervisor knows."""
