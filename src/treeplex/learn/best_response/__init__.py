"""Best responses learned by playing against a fixed agent: lower bounds on its exploitability in games too large to
traverse."""
