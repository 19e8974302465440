"""Monte Carlo CFR over stored histories: schemes, walks, tables and random streams."""
