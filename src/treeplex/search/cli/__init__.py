"""Commands for agents: play, matches, local best response."""
