"""Pure: the hardware catalogue, model shapes, memory budgets, step times, link times and prices."""
