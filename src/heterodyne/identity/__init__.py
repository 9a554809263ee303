"""Tokens that others issue: whose they are, by which keys they are signed, and for whom they stand here."""
