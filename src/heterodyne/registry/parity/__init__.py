"""Artifacts are run beside the one they are built from, and judged by what they say of the same texts."""
