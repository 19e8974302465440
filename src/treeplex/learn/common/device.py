"""PyTorch, if it is installed, and the devices that computations run on."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Any

from treeplex.base.version import install_hint
from treeplex.engine.blas_threads import one_blas_thread
from treeplex.errors import SpecError

DEVICES: Mapping[str, str] = {
    "cpu": "compiled kernels on the CPU",
    "cuda": "PyTorch on a CUDA GPU",
    "torch-cpu": "PyTorch on the CPU, for trying out the GPU code",
    "auto": "cuda if a CUDA GPU is available, otherwise cpu",
}
"""Devices for iterations, searches and gradient steps, with descriptions."""
DRIVER = Path("/proc/driver/nvidia/version")
"""A file of NVIDIA's driver on Linux."""


def torch_module() -> Any:
    """Import and return PyTorch.

    Raises:
        SpecError: PyTorch is not installed; the message says how to install it."""
    try:
        import torch
    except ImportError as error:
        raise SpecError(f"networks need PyTorch; run: {install_hint('torch')}") from error
    return torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Limit PyTorch and NumPy's OpenBLAS to one thread, since networks are small and self-play uses the other cores.

    Other BLAS libraries are not limited, see :func:`treeplex.engine.blas_threads.blas_threads`; setting ``OMP_NUM_THREADS=1``
    before Python starts limits most of them.
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
    """The PyTorch device for one of :data:`DEVICES`; None for the compiled kernels.

    Raises:
        SpecError: the device is unknown, or there is no GPU, or PyTorch is missing.
    """
    if name not in DEVICES:
        raise SpecError(f"unknown device {name!r}; known: {', '.join(DEVICES)}")
    missing = find_spec("torch") is None
    if name == "cpu" or (name == "auto" and missing):
        return None
    if missing:
        raise SpecError(f"device {name} needs PyTorch; run: {install_hint('torch')}; or use device cpu")
    torch = torch_module()
    if name == "torch-cpu":
        return torch.device("cpu")
    if torch.cuda.is_available():
        return torch.device("cuda")
    if name == "cuda":
        raise SpecError("device cuda: PyTorch finds no CUDA GPU here; use cpu, or auto (a GPU if available)")
    return None


@cache
def gpu_expected() -> bool:
    """Whether PyTorch and NVIDIA's driver are installed; PyTorch, which takes seconds to import, may still find no GPU."""
    return find_spec("torch") is not None and (DRIVER.exists() or which("nvidia-smi") is not None)


def device_name(name: str) -> str:
    """The device that one of :data:`DEVICES` stands for on this machine: ``cpu``, ``cuda`` or ``torch-cpu``.

    Raises:
        SpecError: the device is unknown, or there is no GPU, or PyTorch is missing.
    """
    target = torch_device(name)
    return "cpu" if target is None else "cuda" if target.type == "cuda" else "torch-cpu"
