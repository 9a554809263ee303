"""What dialects of hosted providers have in common: an OpenAI chat read to be told in other words, and told back."""
