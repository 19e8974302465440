"""PyTorch, if it is there, and where tensors are: names of devices, and the PyTorch device that each is."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from treeplex.base.version import install_hint
from treeplex.engine.blas_threads import one_blas_thread
from treeplex.errors import SpecError

DEVICES: Mapping[str, str] = {
    "cpu": "compiled kernels on the processor",
    "cuda": "PyTorch on a graphics card",
    "torch-cpu": "the same on the processor, to try it",
    "auto": "cuda where there is one, else cpu",
}
"""Where iterations, searches and gradient steps take place."""


def torch_module() -> Any:
    """PyTorch, or a :class:`SpecError` that says how to install it."""
    try:
        import torch
    except ImportError as error:
        raise SpecError(f"networks need PyTorch; run: {install_hint('torch')}") from error
    return torch


@contextmanager
def one_thread() -> Iterator[None]:
    """PyTorch and NumPy's OpenBLAS with one thread: these networks are small, and the cores are for self-play.

    Another BLAS of NumPy is left as it is, see :func:`treeplex.engine.blas_threads.blas_threads`; ``OMP_NUM_THREADS=1`` before
    the start binds most of them.
    """
    torch = torch_module()
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with one_blas_thread():
            yield
    finally:
        torch.set_num_threads(before)


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
