"""DeepStack's counterfactual value networks: one for each betting round, learned from random situations."""
