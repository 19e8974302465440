"""Built-in games, except poker with a 52-card deck."""
