"""Commands about agents: play, matches, local best response."""
