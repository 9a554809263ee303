"""Client dialects: body bytes become a domain.Request."""
