"""What guards, caches and cascades of all workers did, and do."""
