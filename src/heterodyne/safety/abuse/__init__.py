"""Pure: abuse that no single request shows: of one prompt by many keys, of a model by its answers, of a stolen key."""
