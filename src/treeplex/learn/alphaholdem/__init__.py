"""AlphaHoldem: card and action planes, two convolutional towers, trinal-clip PPO, and self-play against the K best
snapshots."""
