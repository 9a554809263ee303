"""HTTP/1.1 on uvloop and llhttp, both sides; knows nothing of language models."""
