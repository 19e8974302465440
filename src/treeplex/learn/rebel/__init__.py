"""ReBeL: self-play, training and files of value and policy networks."""
