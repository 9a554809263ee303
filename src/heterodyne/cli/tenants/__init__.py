"""`heterodyne tenants`."""
