"""Anthropic's Messages API as an engine."""
