"""Where tensors are: names of devices, and the PyTorch device that each is."""

from collections.abc import Mapping
from typing import Any

from treeplex.errors import SpecError
from treeplex.learn.rebel.value_net import torch_module

DEVICES: Mapping[str, str] = {
    "cpu": "compiled kernels on the processor",
    "cuda": "PyTorch on a graphics card",
    "torch-cpu": "the same on the processor, to try it",
    "auto": "cuda where there is one, else cpu",
}
"""Where iterations, searches and gradient steps take place."""


def torch_device(name: str) -> Any:
    """The PyTorch device that one of :data:`DEVICES` is; None for the compiled kernels.

    Raises:
        SpecError: an unknown name, or no graphics card where one is asked for; PyTorch is missing.
    """
    if name not in DEVICES:
        raise SpecError(f"unknown device {name!r}; known: {', '.join(DEVICES)}")
    if name == "cpu":
        return None
    torch = torch_module()
    if name == "torch-cpu":
        return torch.device("cpu")
    if torch.cuda.is_available():
        return torch.device("cuda")
    if name == "cuda":
        raise SpecError("device cuda: PyTorch finds no CUDA graphics card here; take cpu, or auto, which uses one where it is")
    return None
