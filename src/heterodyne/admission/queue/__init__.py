"""Pure: who is next when there is not room for everybody."""
