"""Numbers of fixed jobs are what they were when they were recorded.

Other processors round differently, so numbers are compared within the tolerances of :mod:`tests.fence.cases`. With
``TREEPLEX_FENCE_BITS=1`` they must be the same bit for bit, which they can only be on the machine that recorded them;
``python -m tests.fence.record --compare`` says of each case how far it is off.
"""

import importlib.util
import json
import math
import os

import numpy as np
import pytest

from tests.fence.cases import CASES, Case
from tests.fence.record import RECORDED, difference, entries_of, entry_of, faults

BITS = bool(os.environ.get("TREEPLEX_FENCE_BITS"))
CASE_PARAMETERS = [
    pytest.param(name, id=name.replace("[", "(").replace("]", ")"), marks=[pytest.mark.slow] if case.slow else [])
    for name, case in CASES.items()
]


@pytest.mark.slow_cases(
    "uniform play of rhode_island(ranks=2)",
    "liars_dice without compiling",
    "leduc_poker without compiling",
    "correlation devices of kuhn_poker",
    "best correlated equilibrium of matrix(rows=((2,0),(0,1)),second=((0,1),(3,0)))",
    "best correlated equilibrium of kuhn_poker",
    "flop",
    "limit hold'em",
    "ReBeL in four-sided dice",
    "ReBeL with a policy network",
    "ReBeL in two streams",
    "ReBeL by tensors",
    "ReBeL on turns",
    "discounts by evolution",
    "discounts by PPO",
)
@pytest.mark.parametrize("name", CASE_PARAMETERS)
def test_numbers_are_those_recorded(name: str) -> None:
    case = CASES[name]
    if case.torch and importlib.util.find_spec("torch") is None:
        pytest.skip("needs PyTorch")
    recorded = json.loads(RECORDED.read_text())["cases"][name]
    assert not faults(case, entries_of(case.run()), recorded, bits=BITS)


def test_every_case_is_recorded_and_no_other() -> None:
    assert list(json.loads(RECORDED.read_text())["cases"]) == list(CASES)


def test_differences_are_seen() -> None:
    case = Case(dict, rtol=1e-3, rtols={"loose": 0.5, "bits": math.inf})
    before = {"value": 2.0, "loose": 2.0, "bits": 1.0, "count": 7, "array": np.linspace(0.0, 1.0, 9)}
    recorded = entries_of(before)
    assert not faults(case, entries_of(dict(before)), recorded, bits=True)
    slightly = {**before, "value": 2.001, "loose": 2.9, "bits": 5.0}
    assert not faults(case, entries_of(slightly), recorded, bits=False)
    assert len(faults(case, entries_of(slightly), recorded, bits=True)) == 3
    swapped = np.linspace(0.0, 1.0, 9)
    swapped[[3, 4]] = swapped[[4, 3]]
    for name, number in {"value": 2.01, "loose": 3.1, "count": 8, "array": swapped}.items():
        (fault,) = faults(case, entries_of({**before, name: number}), recorded, bits=False)
        assert fault.startswith(name)
    assert faults(case, entries_of({"value": 2.0}), recorded, bits=False)


def test_kinds_of_numbers_that_cannot_be_compared_differ() -> None:
    numbers = [1.0, 1, np.ones(2), np.ones(3), np.ones(2, np.float32), np.ones(2, np.uint8)]
    for first in numbers:
        for second in numbers:
            if first is not second and not {type(first), type(second)} <= {int, float}:
                assert difference(entry_of(first), entry_of(second)) == math.inf
    assert difference(entry_of(np.float64(np.nan)), entry_of(1.0)) != 0.0
