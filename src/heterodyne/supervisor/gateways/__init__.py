"""What the supervisors of gateways that share a fleet tell each other."""
