"""Heterodyne: one OpenAI-compatible front door over every accelerator you own."""

__version__ = "0.1.0"
