"""The tiers of a machine that weights pass on their way to an engine."""
