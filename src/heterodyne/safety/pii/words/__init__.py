"""Names and places by their words: lists of common ones, and what stands around a capitalised word."""
