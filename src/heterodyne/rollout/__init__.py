"""Pure: how a new version takes over from an old one, step by step, on evidence."""
