"""ReBeL on whole hold'em for two: from the blinds on, street by street, on small decks and on 52 cards."""
