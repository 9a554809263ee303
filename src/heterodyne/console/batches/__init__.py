"""Batches of every project, and the one thing that is done to them by hand."""
