"""The fleet that is wanted, and its changes."""
