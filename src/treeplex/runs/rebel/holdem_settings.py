"""What a training on turns of hold'em is asked to do: the spot on which games are modelled, and settings by name."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from math import comb
from typing import Any

import numpy as np

from treeplex.errors import FileError, SpecError
from treeplex.games.poker.betting.sizes import BetPlan
from treeplex.games.poker.spots.known import all_hands
from treeplex.games.poker.spots.spot import Spot, spot_from_json
from treeplex.learn.rebel.holdem_trainer import PAPER_TURNS, HoldemRebelSettings
from treeplex.runs.rebel.settings import LEARNING, changed, preset_named

PRESETS: Mapping[str, HoldemRebelSettings] = {"recipe": HoldemRebelSettings(), "paper": PAPER_TURNS}
"""``recipe``: minutes of one core. ``paper``: the paper's method, network and steps, see :data:`PAPER_TURNS`."""
STACKS = 2.5, 25.0
"""Pots that a player has at first, at least and at most: the 5,000 to 50,000 chips of turn endgame hold'em's pot of 2,000."""
MEANINGS: Mapping[str, str] = {
    "source": "of public belief states: self-play, or random or flat ranges for comparison",
    "method": "how turns are searched",
    "iterations": "of a search; each updates both players",
    "rivers": "taken from each search and solved",
    "river_iterations": "of a river's solution",
    "draw": "of the iteration played on: uniform, or average, weighted as in the average policy",
    "exploration": "probability with which the exploring player plays at random",
    "stacks": "the least and the most chips of a player, half of the first pot included",
    "perturbed": "parts of the pot by which bet sizes are moved, anew for each game",
    "boards": "true: the turn's board is drawn anew for each game",
    "games": "turns to be drawn in all; the step size falls over them",
    "bins": "of strength, what the network sees of a range",
    "width": "of the network's layers",
    "layers": "of the network",
    "rows": "the most rows of the buffer",
    "burn_in": "rows before the first step",
    **LEARNING,
}
FIXED = ("bins", "width", "layers", "seed")
"""What a training cannot change under way."""
ADDED = ("halve", "draw")
"""Settings that trainings of early versions did not have."""


@dataclass(frozen=True, eq=False)
class HoldemRebelRun:
    """A training as it was asked for.

    Attributes:
        spot: the turn on which games are modelled; every hand may be held.
        settings: hyper-parameters.
    """

    spot: Spot
    settings: HoldemRebelSettings

    def to_json(self) -> dict[str, Any]:
        """As plain data for :func:`run_from`."""
        return {"spot": self.spot.to_json(), "identity": self.spot.identity, "settings": asdict(self.settings)}


def check_turn(spot: Spot) -> None:
    """Refuse a spot that networks do not know.

    Raises:
        SpecError: it is no turn, has no pot, rake or donk sizes, or other numbers of cards.
    """
    if len(spot.streets) != 2:
        raise SpecError(f"the spot has {len(spot.streets)} streets of betting, not 2: give the board of the turn")
    if spot.rake.rate:
        raise SpecError("networks know no rake; leave the rake out")
    if isinstance(spot.bets, BetPlan) and spot.bets.streets[-1][0].donk is not None:
        raise SpecError("networks do not see who bet last on the turn and know no donk sizes; set donk to default (--donk)")
    if spot.format.hole != 2 or spot.format.deal[-1] != 1:
        raise SpecError(f"networks are for hands of two cards and a river of one; {spot.format.name} has others")
    if not spot.pot > 0:
        raise SpecError("networks value chips in parts of the pot, which is 0; give a pot")


def turn_run(spot: Spot, settings: HoldemRebelSettings) -> HoldemRebelRun:
    """A run on a spot; its ranges play no part, as every hand may be held in training.

    Raises:
        SpecError: as :func:`check_turn`.
    """
    check_turn(spot)
    return HoldemRebelRun(spot_from_json(spot.to_json(), all_hands(spot.format)), settings)


def settings_for(spot: Spot, *changes: Mapping[str, Any], preset: str | None = None) -> HoldemRebelSettings:
    """A preset (None: ``recipe``), stacks in parts of the spot's pot, with changes, later ones over earlier ones.

    Raises:
        SpecError: an unknown name, or a value outside its range.
    """
    least, most = (pots * spot.pot for pots in STACKS)
    usual = preset_named(preset, PRESETS)
    return changed(replace(usual, stacks=(least, most)) if spot.pot > 0 else usual, *changes)


def run_from(found: Mapping[str, Any], place: str) -> HoldemRebelRun:
    """A run as written in ``turn.json``; :class:`FileError` names ``place`` when it is not whole."""
    try:
        if set(found["settings"]) | set(ADDED) != {each.name for each in fields(HoldemRebelSettings)}:
            raise SpecError(f"expected exactly {', '.join(MEANINGS)}")
        cards = found["spot"]["format"]
        ones = np.ones(comb(len(cards["deck"]) // 2, cards["hole"]))
        spot = spot_from_json(found["spot"], (ones, ones))
        if spot.identity != found["identity"]:
            raise SpecError("the spot is not that of its identity")
        return HoldemRebelRun(spot, changed(HoldemRebelSettings(), found["settings"]))
    except (KeyError, TypeError, ValueError, AttributeError, SpecError) as error:
        raise FileError(f"{place}: the settings of the training cannot be read ({error}); start it again") from error
