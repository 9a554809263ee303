"""`heterodyne audit`."""
