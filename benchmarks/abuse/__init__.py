"""How well abuse is told from ordinary traffic, and what watching costs."""
