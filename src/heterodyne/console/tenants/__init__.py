"""Organisations, projects and keys."""
