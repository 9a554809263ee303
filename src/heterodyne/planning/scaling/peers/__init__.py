"""Scaling rules of other systems, to compare ours with."""
