"""What clients may ask for again: responses, conversations, chat completions. Kept in the database, by project."""
