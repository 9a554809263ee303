"""Pure: which request is next when there is not room for all."""
