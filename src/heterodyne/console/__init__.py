"""The operator's door: an admin API on a port of its own, to see the fleet and to change it while it serves."""
