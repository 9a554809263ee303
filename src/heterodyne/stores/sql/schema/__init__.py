"""The shape of the database: one file per step, in the order of their numbers."""
