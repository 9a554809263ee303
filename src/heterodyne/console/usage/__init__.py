"""Usage, requests and idle capacity."""
