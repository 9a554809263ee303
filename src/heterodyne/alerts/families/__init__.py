"""The alerts, a file for each kind of trouble."""
