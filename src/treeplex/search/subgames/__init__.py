"""Depth-limited subgames of public trees, walked once as templates and batched."""
