"""Prompts that ask the same in other words: what is near, what differs, and whether to serve."""
