"""Objects that clients may ask for again."""
