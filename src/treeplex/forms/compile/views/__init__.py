"""Views of compiled games: histories, tensors, a payoff matrix, a form for solvers."""
