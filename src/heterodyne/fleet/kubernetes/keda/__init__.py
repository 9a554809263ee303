"""What KEDA asks of an external scaler: how many replicas a pool should have."""
