"""Measured points of a live replica."""
