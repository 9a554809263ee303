"""The nouns, their units and the errors; standard library and msgspec only."""
