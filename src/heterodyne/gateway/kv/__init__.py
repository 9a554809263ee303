"""Brings KV to replicas before they are asked."""
