"""Cascades on the way of requests: a cheap model is asked first where its answer may do."""
