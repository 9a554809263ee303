"""One file per weight source scheme."""
