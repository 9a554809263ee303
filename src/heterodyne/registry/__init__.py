"""Where weights come from, how they are verified, and where they are kept."""
