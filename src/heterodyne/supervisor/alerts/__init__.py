"""Alerts at work: signals gathered from the books, the workers and the stores, evaluated, and sent."""
