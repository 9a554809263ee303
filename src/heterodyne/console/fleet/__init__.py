"""The fleet, and changes to it."""
