"""`heterodyne keys`."""
