"""Signing in and out of the console."""
