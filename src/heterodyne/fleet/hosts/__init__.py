"""Replicas that are started by commands: on hosts over SSH, or as jobs of Slurm."""
