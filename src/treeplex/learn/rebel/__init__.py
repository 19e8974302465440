"""ReBeL: self-play, value and policy networks, their training and their files."""
