"""A launch as Kubernetes objects."""
