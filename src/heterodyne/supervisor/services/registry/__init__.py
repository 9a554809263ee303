"""The registry for the console."""
