"""Adapters: one file per engine dialect."""
