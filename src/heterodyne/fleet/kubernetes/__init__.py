"""Replicas that run as pods: which there are, where they run, and how many there should be."""
