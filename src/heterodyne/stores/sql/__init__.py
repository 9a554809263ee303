"""What both databases share: the schema and the statements."""
