"""Learning how to discount: evolution strategies and PPO."""
