"""Signing in to the console with an OpenID Connect issuer in place of a key."""
