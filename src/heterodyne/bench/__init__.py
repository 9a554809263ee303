"""An open-loop load generator for any OpenAI-compatible URL."""
