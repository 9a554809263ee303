"""Texts that try to take a model over: rules, a small classifier, and both together."""
