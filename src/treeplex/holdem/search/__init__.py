"""Search in hold'em: endgame solving, river values from strength bins, agents, and the policies that searches play."""
