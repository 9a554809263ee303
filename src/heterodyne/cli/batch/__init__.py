"""`heterodyne batch`."""
