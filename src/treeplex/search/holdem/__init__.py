"""Search in hold'em: beliefs over hands, subgames, leaves, agents."""
