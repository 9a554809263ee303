"""What policies that look at how things are made do with a request and with its answer, whole or as it streams."""
