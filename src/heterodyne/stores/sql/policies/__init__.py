"""What guards, caches and cascades did."""
