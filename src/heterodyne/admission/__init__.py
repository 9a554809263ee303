"""Pure: who may ask, how much, and when the house is full."""
