"""Versions and artifacts of models."""
