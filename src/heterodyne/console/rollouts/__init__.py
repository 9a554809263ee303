"""Rollouts, and what may be done to them by hand."""
