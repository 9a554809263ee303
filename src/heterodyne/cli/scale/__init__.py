"""`heterodyne scale`."""
