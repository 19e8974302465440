"""Hold'em spots on PyTorch tensors: the engine for a GPU."""
