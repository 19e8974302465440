"""ReBeL on heads-up full-game hold'em, street by street, on small decks and on 52 cards."""
