"""The loops that keep the fleet and the worker processes alive."""
