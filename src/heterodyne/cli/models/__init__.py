"""`heterodyne models`."""
