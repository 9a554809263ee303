"""What is installed, what is seen, what is in the way; each file probes one of them."""
