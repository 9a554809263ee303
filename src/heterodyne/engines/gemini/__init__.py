"""Google's Gemini API as an engine."""
