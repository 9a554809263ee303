"""Piles of requests that may wait until morning: their lines, the folder they are worked off in, what comes out."""
