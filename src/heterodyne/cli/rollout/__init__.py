"""`heterodyne rollout`."""
