"""What is asked of a fleet: requests of a trace, their lengths, shared prefixes and growth."""
