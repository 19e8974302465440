"""Learning: discount policies by evolution strategies and PPO, networks for search by ReBeL, and their workers."""
