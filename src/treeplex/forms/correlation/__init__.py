"""Correlation devices, mixtures of joint plans and how plans are laid out."""
