"""The engine's operations, implemented in PyTorch."""
