"""Packs all that an installation without a network needs into one archive."""
