"""KEDA's side of an external scaler."""
