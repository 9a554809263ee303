"""Which hardware serves a model, at which load and price."""
