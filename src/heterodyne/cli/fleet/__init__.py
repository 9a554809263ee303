"""`heterodyne fleet`."""
