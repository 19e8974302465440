"""Forms: rules compiled to treeplexes and payoff operators; policies; imports and exports."""
