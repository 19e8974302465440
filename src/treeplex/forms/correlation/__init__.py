"""Correlation devices, mixtures of joint plans, and reduced plans."""
