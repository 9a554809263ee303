"""Abuse as the supervisor sees it: the signs of all workers come together here, and restrictions go out to all."""
