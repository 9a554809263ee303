"""A fleet in virtual time: replicas as step machines, and the very same routing code that serves traffic."""
