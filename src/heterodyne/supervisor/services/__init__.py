"""What the console asks beyond the fleet: capacity, plans, rehearsals and tenants, each answered by its own service."""
