"""DeepStack's counterfactual value networks: one per betting round, trained on random situations."""
