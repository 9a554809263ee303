"""A profile of a live replica, fitted to measurements."""
