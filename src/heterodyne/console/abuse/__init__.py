"""Abuse for operators: which keys were found, by what, and how a restriction is lifted."""
