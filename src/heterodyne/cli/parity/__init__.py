"""`heterodyne parity`."""
