"""The kernels that follow the first ones of a solve or of a turn search, compiled on a second core."""

import re
from typing import Any

import numpy as np

from treeplex.engine.networks.mlp_batch import forward
from treeplex.evaluate.ahead import compile_for
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.engine.form import Store
from treeplex.holdem.engine.passes import BoardPool, gather
from treeplex.holdem.engine.workspace import make_workspace
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.forms.spot_form import store_of
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.search.leaves.binned_rivers import RiverBins
from treeplex.holdem.spots.known import holdem

STORED = re.compile(r"Store\(array\((\w+),")
"""Finds the dtype of the regrets in a kernel's argument types."""


def judge_or_search(signature: str) -> None:
    """Compile for a turn search if the regrets are in double precision, as those of agents are, else for evaluation."""
    if stored_number(signature) == np.float64:
        search_turn()
    else:
        judge_turn(signature)


def judge_turn(signature: str) -> None:
    """Compile the evaluation kernels while the calling process compiles the iteration."""
    game = small_turn()
    store = Store(**store_of(game, frozenset(), stored_number(signature).type))
    judge_spot(game, store.average, store, judging_crew(game, 1))


def search_turn() -> None:
    """Compile the river network and the update while the calling process compiles reach and values."""
    singles, numbers = np.zeros((1, 1), np.float32), np.ones(1)
    compile_for(forward, np.ones(2, np.int64), singles[0], singles, np.zeros(1, np.int64), singles)
    game = small_turn()
    rivers = RiverBins.of(game.spot.format, ((*game.boards[0][0].cards, 0),), 2)
    reach = np.ones((1, len(game.spot.format.hands)))
    rivers.rows((reach, reach), numbers, numbers)
    rivers.values(np.zeros((1, 2), np.float32), reach, numbers, 1.0)
    work = make_workspace(game.form, 1, np.float64)
    gather(game.form, 0, 0, 0, 0, work, 0)
    BoardPool(game.form, work, raked=False).prepare(Store(**store_of(game, frozenset(), np.float64)))


def stored_number(signature: str) -> np.dtype[Any]:
    """The dtype of the regrets in a kernel's argument types; single precision if there are none."""
    found = STORED.search(signature)
    return np.dtype(found[1] if found else np.float32)


def small_turn() -> CompiledSpot:
    """A turn with few hands."""
    return compile_spot(holdem("Td9d6hQc", "AA", "KK", pot=20, stack=60, bets=BetPlan.same("50%", "a")))
