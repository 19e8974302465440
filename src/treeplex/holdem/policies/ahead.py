"""Compiles the kernels that evaluate spot strategies on a second core, ahead of their first use."""

import numpy as np

from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.engine.form import Store
from treeplex.holdem.forms.compile_spot import compile_spot
from treeplex.holdem.forms.spot_form import store_of
from treeplex.holdem.policies.judge import judge_spot, judging_crew
from treeplex.holdem.spots.known import holdem


def judge_turn() -> None:
    """Compile the evaluation kernels while the calling process compiles the iteration."""
    spot = holdem("Td9d6hQc", "AA", "KK", pot=20, stack=60, bets=BetPlan.same("50%", "a"))
    game = compile_spot(spot)
    store = Store(**store_of(game, frozenset(), np.float32))
    judge_spot(game, store.average, store, judging_crew(game, 1))
