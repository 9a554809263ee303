"""Public fakes: an engine whose behaviour and faults are scripted."""
