"""Identity numbers by country: a file each, and a line each in `registry.py`."""
