"""Builders: one file each, which make an artifact of another."""
