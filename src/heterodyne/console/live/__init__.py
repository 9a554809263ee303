"""The fleet as it is now, pushed to open pages."""
