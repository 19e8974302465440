"""ReBeL on turns of hold'em: self-play, networks and what they learn from."""
