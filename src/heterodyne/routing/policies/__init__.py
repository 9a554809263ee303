"""What a choice between forecasts is for: one objective per file."""
