"""Organisations, projects and keys as rows."""
