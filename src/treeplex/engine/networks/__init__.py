"""Evaluation of small networks without PyTorch, on single inputs or on batches in SIMD lanes."""
