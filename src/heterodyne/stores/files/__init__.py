"""The bytes of files that clients send and batches write."""
