"""What an operator should know without looking: when a signal becomes an alert, and who gets it."""
