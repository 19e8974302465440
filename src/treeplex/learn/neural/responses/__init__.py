"""Learners that respond to fixed or average opponents: NFSP and PSRO."""
