"""AlphaHoldem: card planes and action planes, two towers of convolutions, trinal-clip PPO, and play against the K best."""
