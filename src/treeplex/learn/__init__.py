"""Learning: how to discount, by evolution strategies and PPO; values and policies that search uses, by self-play (ReBeL)."""
