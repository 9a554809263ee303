"""Where rollouts stand."""
