"""What guards, caches and cascades do."""
