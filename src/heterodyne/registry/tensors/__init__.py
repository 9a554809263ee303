"""Files of tensors: read, checked and written, one tensor at a time."""
