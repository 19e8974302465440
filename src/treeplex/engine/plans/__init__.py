"""Kernels over joint plans: correlated play and normal-form learning."""
