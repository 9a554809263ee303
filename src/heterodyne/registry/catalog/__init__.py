"""The registry of models: versions, their artifacts, and what is done with them."""
