"""ReBeL for heads-up full-game hold'em, street by street, with small decks or 52 cards."""
