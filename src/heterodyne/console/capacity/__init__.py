"""How much room every model has left."""
