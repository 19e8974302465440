"""Small networks without torch: one infoset at a time, or batches in SIMD lanes."""
