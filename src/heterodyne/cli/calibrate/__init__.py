"""`heterodyne calibrate`."""
