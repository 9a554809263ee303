"""Works on batches beside the requests that somebody waits for."""
