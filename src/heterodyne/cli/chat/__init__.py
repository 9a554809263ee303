"""`heterodyne chat`."""
