"""Built-in games, except poker with 52 cards."""
