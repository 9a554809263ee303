"""Answers that were given before: when two requests are the same, and when they are alike enough. Pure."""
