"""Usage records and their sums as rows."""
