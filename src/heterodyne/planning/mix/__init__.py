"""The cheapest mix of hardware for buckets of traffic."""
