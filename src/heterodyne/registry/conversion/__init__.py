"""Weights made from other weights."""
