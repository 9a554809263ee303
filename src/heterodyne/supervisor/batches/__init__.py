"""Sees batches through: what is checked before, what is counted meanwhile, what is written at the end."""
