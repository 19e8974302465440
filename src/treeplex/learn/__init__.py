"""Learning to discount: evolution strategies and PPO, over episodes that many workers play."""
