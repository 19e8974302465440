"""Where tensors of these tests are: on a graphics card where there is one, else on the processor."""

import torch

ON_CARD = torch.cuda.is_available()
NAME = "cuda" if ON_CARD else "torch-cpu"
NAMES = tuple(sorted({"torch-cpu", NAME}))
"""For what repeats bit for bit on the processor only, so that it is asked there on every machine."""
DEVICE = torch.device("cuda" if ON_CARD else "cpu")
