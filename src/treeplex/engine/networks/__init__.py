"""Evaluation of small networks without PyTorch: single inputs, or batches in SIMD lanes."""
