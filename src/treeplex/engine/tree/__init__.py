"""The tree engine: sequences, infosets in blocks, payoff operators, and the kernels that iterate on them."""
