"""How much more each model could serve, and what to buy next."""
