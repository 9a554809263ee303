"""What we ask of the outside, one to three methods each."""
