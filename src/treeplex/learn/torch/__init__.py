"""The engine's operations in PyTorch."""
