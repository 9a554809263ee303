"""The books: what every request used, kept to the token whatever dies."""
