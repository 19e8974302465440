"""Streets of whole hold'em as subgames: one street of betting on many boards at once, small decks and 52 cards alike."""
