"""Functions that compile kernels on a second core."""

from importlib import import_module
from inspect import signature
from typing import Any

import numpy as np
import pytest

from treeplex.engine.tree import sweeps
from treeplex.holdem.engine import passes
from treeplex.holdem.search.ahead import stored_number


def test_every_function_named_by_a_kernel_takes_its_argument_types() -> None:
    kernels: list[Any] = [value for module in (passes, sweeps) for value in vars(module).values() if hasattr(value, "py_func")]
    entries = {kernel._cache.ahead for kernel in kernels} - {""}
    assert len(entries) == 3
    for entry in entries:
        module, _, function = entry.partition(":")
        assert list(signature(getattr(import_module(module), function)).parameters) == ["signature"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("HoldemForm(array(int64, 2d, C)), Store(array(float64, 1d, C), array(int16, 1d, C))", np.float64),
        ("Store(array(int16, 1d, C), array(float64, 1d, C))", np.int16),
        ("array(float64, 1d, C)", np.float32),
    ],
)
def test_the_number_of_a_store_is_that_of_its_regrets(text: str, number: type) -> None:
    assert stored_number(text) == number
