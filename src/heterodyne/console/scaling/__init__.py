"""Pools that grow and shrink by themselves: what was decided, and who may stop it."""
