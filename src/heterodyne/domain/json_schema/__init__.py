"""Whether a value is of a JSON Schema: in bounded time, as schemas come from clients too."""
