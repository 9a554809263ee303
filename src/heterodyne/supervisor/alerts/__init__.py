"""Alerts at work: signals gathered from the books, the workers and the office, judged, and told."""
