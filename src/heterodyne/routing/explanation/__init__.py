"""A routing decision in words: what an operator may ask, and what is answered."""
