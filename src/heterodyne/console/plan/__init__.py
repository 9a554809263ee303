"""Plans on forms."""
