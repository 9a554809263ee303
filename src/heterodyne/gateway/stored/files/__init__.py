"""Files that clients send, and ask for again."""
