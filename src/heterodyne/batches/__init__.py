"""Pure: files and batches in the words of OpenAI's API."""
