"""An API server stand-in, its rights, and the objects that tests put into it."""
