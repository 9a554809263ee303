"""Places that keep bytes by their SHA-256."""
