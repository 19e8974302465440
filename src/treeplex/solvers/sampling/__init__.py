"""Monte Carlo CFR on compiled games, and on rules without compiling."""
