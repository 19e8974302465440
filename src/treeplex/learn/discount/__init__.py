"""Training of discount policies: evolution strategies and PPO."""
