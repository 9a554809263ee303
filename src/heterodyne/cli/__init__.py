"""One file per command: words in, one call, text or JSON out."""
