"""The registry of models: versions, artifacts, and what runs where."""
