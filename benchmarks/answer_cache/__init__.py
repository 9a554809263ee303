"""What keeping answers costs, and what it spares."""
