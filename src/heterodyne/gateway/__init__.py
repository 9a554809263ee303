"""The data-plane door: HTTP in, a decision, an engine's answer out."""
