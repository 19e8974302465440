"""Solvers for correlated equilibria: joint plans and regret matching."""
