"""Cards: decks, hands, ranges and hand strength."""
