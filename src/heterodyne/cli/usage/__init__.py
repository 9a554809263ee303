"""`heterodyne usage`."""
