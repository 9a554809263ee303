"""What workers of all gateways tell each other of the fleet they share, and how it is put together."""
