"""Policies on the way of requests: every request passes here before it is admitted, every answer before it is sent."""
