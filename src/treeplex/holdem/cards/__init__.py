"""Cards: decks, hands, ranges and their strength."""
