"""Abuse as a worker has to do with it: what it tells the supervisor of requests, and whom it lets wait or refuses."""
