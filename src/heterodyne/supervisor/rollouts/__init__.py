"""Rollouts are carried out: fed with what workers have seen, saved, and told to the workers."""
