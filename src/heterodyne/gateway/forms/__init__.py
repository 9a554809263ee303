"""How answers look to the clients of each API. Inside, an answer is OpenAI's."""
