"""ReBeL on hold'em turns: self-play, networks and their training data."""
