"""Traces: what one request did and when, as OpenTelemetry spans."""
