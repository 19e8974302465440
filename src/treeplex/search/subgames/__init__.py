"""Depth-limited subgames of public trees, each traversed once as a template, and solved in batches."""
