"""How much the semantic cache serves within its bound, on public question pairs, and how fast it looks up."""
