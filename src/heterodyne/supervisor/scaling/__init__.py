"""The autoscaler over a fleet that serves: what it sees, what it does, and what it writes down."""
