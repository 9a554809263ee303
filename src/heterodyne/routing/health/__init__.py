"""Pure: what each replica has shown of itself lately, and whether it may take the next request."""
