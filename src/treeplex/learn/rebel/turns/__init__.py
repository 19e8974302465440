"""ReBeL on turns of hold'em: its lesson, self-play, networks and what they learn from."""
