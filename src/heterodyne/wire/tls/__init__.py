"""TLS on either side of us: contexts that are made anew where a file is, and words for what went wrong."""
