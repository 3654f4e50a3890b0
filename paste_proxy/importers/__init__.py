"""Session logs of others, read as events."""
