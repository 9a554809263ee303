"""`heterodyne explain`."""
