"""Makes machine code of the hot files; the same files run without it."""
