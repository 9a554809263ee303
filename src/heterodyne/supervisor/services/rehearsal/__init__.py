"""Recorded requests replayed under another policy, in a process of its own."""
