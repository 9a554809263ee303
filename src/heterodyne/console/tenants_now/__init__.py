"""What every tenant uses of its limits now."""
