"""What guards, caches and cascades of a running gateway do."""
