"""The gateway's worker processes, and both ends of what they and the supervisor exchange."""
