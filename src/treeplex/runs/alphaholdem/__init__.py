"""Trainings of AlphaHoldem: the learner ``alphaholdem``."""
