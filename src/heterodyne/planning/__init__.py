"""Pure: demand and hardware become a plan: what fits, what it costs, which mix is cheapest."""
