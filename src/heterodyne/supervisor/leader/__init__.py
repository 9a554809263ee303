"""Which of several gateways runs the loops that only one may run: the lease, and the watch that keeps it."""
