"""Pure: how many replicas each pool of a model should have, and why."""
