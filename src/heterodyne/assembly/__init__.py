"""Builds every object from settings, opens and closes them; the only place concrete classes meet."""
