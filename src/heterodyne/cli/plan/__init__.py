"""`heterodyne plan`."""
