"""Pure: a request and a snapshot of the fleet become a target and a reason."""
