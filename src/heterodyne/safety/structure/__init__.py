"""Guards that look at how a request or an answer is made: calls of tools, JSON of a schema, lengths."""
