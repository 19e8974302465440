"""Search in hold'em: endgames, values of rivers in bins, the agent's setting, what searches play."""
