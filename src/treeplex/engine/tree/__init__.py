"""The tree engine: sequences, blocks of infosets, payoff operators, and iteration kernels."""
