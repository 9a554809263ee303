"""How much an answer is to be doubted: one file per way to judge, a line each in the catalogue."""
