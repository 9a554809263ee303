"""Builds every object from settings, opens and closes them; the only place concrete classes meet."""

import gc

# Thousands of modules are loaded next, and none of it is garbage: looking through it took an eighth of a start.
gc.set_threshold(50_000)
