"""Games as environments of Gymnasium and PettingZoo, our agents in them, and players of other libraries at our tables."""
