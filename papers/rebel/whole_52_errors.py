"""Errors of a network for full-game hold'em at the end of the turn's betting, on states not used in training.

Only there are exact values feasible with 52 cards: all rivers, each solved to the end.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from treeplex.holdem.whole.public import PublicHoldem
from treeplex.learn.rebel.files import NetFile
from treeplex.learn.rebel.play import Rows
from treeplex.learn.rebel.settings import WholeRebelSettings
from treeplex.learn.rebel.whole.nets import leaf_of
from treeplex.learn.rebel.whole.self_play import StreetBelief, WholeSelfPlay
from treeplex.learn.rebel.whole.value_leaf import WholeLeaf

FINE = 64
"""Iterations of the reference solves of rivers."""
TURN = 4
"""Cards of a board after the turn."""
SEED = 77


def ends_of_turns(game: PublicHoldem, net: NetFile, count: int) -> Iterator[StreetBelief]:
    """States before the river from self-play with a network, with separate random numbers."""
    settings = WholeRebelSettings.from_json({**net.settings, "episodes": 16}, net.path)
    play = WholeSelfPlay(game, settings, leaf_of(net, game), np.random.default_rng(SEED))
    while count > 0:
        play.advance()
        found = [state for state in play.states if len(state.board) == TURN][:count]
        count -= len(found)
        yield from found


def solved(game: PublicHoldem, leaf: WholeLeaf, state: StreetBelief, settings: WholeRebelSettings) -> Rows:
    """Target values of a state: all rivers, each solved finely, without any network."""
    play = WholeSelfPlay(game, replace(settings, boards=0, iterations=FINE, episodes=1), leaf, np.random.default_rng(SEED))
    play.states = [state]
    return play.advance()


def unseen_rows(game: PublicHoldem, net: NetFile, count: int) -> Rows:
    """Rows of solved states before the river; the network only determines which states are reached."""
    settings, leaf = WholeRebelSettings.from_json(net.settings, net.path), leaf_of(net, game)
    rows = [solved(game, leaf, state, settings) for state in ends_of_turns(game, net, count)]
    return Rows.joined(rows)


def errors(game: PublicHoldem, nets: Mapping[str, NetFile], rows: Rows) -> dict[str, float]:
    """Root mean square errors of networks' values beyond the showdown, and of showdown values, as shares of the pot.

    States have equal weight, and bins within a state are weighted by the probability of their hands.
    """
    assert rows.weights is not None
    weights = rows.weights / rows.weights.sum(axis=1, keepdims=True)
    found = {"showdown": 0.0}
    outputs: dict[str, Any] = {"showdown": np.zeros_like(rows.targets)}
    outputs |= {name: leaf_of(net, game).forward(rows.inputs) for name, net in nets.items()}
    for name, told in outputs.items():
        found[name] = float(np.sqrt((weights * (told - rows.targets) ** 2).sum() / len(weights)))
    return found
