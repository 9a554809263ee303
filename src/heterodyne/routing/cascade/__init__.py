"""Whether a cheap model's answer will do, before it is asked for and after: within a bound on the quality lost."""
