"""Fictitious play: best responses against averages (Brown 1951; Heinrich, Lanctot and Silver 2015 in sequence form)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import isfinite
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.tree.fictitious import iterate_best_replies
from treeplex.engine.tree.sweeps import reach, workspace
from treeplex.errors import SpecError
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import uniform_probabilities
from treeplex.solvers.base import Solver, order_of_updates


@dataclass(frozen=True)
class FictitiousRule:
    """A kind of fictitious play.

    Attributes:
        name: what the command line calls it.
        summary: one line.
        reference: the paper.
        step: how far the average moves toward the reply of iteration t (from 1; the uniform policy is iteration 0).
        optimism: weight of the last reply in what others respond to at iteration t.
    """

    name: str
    summary: str
    reference: str
    step: Callable[[int], float]
    optimism: Callable[[int], float] = lambda t: 0.0


FICTITIOUS_RULES: Mapping[str, FictitiousRule] = {
    play.name: play
    for play in (
        FictitiousRule(
            "fp",
            "fictitious play: best responses against uniform averages",
            "Brown 1951, Iterative Solution of Games by Fictitious Play; Heinrich, Lanctot and Silver 2015",
            step=lambda t: 1.0 / (t + 1.0),
        ),
        FictitiousRule(
            "linear-fp",
            "fictitious play with reply t weighted by t + 1, the uniform start by 2",
            "Brown, Bakhtin, Lerer and Gong 2020, ReBeL, Table 2 (as their released solver weights it)",
            step=lambda t: (t + 1.0) / (2.0 + t * (t + 3.0) / 2.0),
        ),
        FictitiousRule(
            "flop",
            "fictitious linear optimistic play: reply t weighted by t, the uniform start by 1, the last reply counted twice",
            "Brown, Bakhtin, Lerer and Gong 2020, ReBeL, appendix H (where the start has weight 0)",
            step=lambda t: t / (1.0 + t * (t + 1.0) / 2.0),
            optimism=lambda t: 2.0 / (t + 2.0),
        ),
    )
}
"""The kinds of fictitious play by name.

``flop`` keeps the uniform start with weight 1. Appendix H gives it weight 0; then the average is a pure reply at first,
infosets that it never reaches get no reply of consequence, and on Liar's Dice exploitability stays near 1 for a hundred
iterations. With the start kept, FLOP beats linear fictitious play as the paper's figure 4 says.
"""


def numbers_of(play: FictitiousRule, name: str, times: range) -> NDArray[np.float64]:
    """What one of a play's functions gives for these iterations, float64 [K].

    Raises:
        SpecError: it cannot be called with an iteration, or gives something that is no finite number.
    """
    function = getattr(play, name)
    try:
        found = [function(t) for t in times]
    except (TypeError, ArithmeticError, ValueError) as error:
        raise SpecError(f"{play.name}: calling its {name}(t) failed: {error}") from error
    for t, number in zip(times, found, strict=True):
        if not isinstance(number, Real) or not isfinite(number):
            raise SpecError(f"{play.name}: its {name} must return a finite number, not {number!r} (at iteration {t})")
    return np.array(found, np.float64)


class FictitiousPlay(Solver):
    """Any :class:`FictitiousRule` on a compiled game; the reply before the first iteration is the uniform policy."""

    def __init__(self, game: CompiledGame, play: FictitiousRule, *, updates: str | None = None) -> None:
        """Start from the uniform policy; ``updates`` is ``alternating`` (default) or ``simultaneous``."""
        self.game, self.play, self.algorithm = game, play, play.name
        self.updates = order_of_updates(updates or "alternating")
        self.policy = uniform_probabilities(game)
        self.reply = np.zeros_like(self.policy)
        for player in range(game.players):
            reach(game.tree, player, self.policy, self.reply)
        self.average = self.reply.copy()
        self._target = np.empty_like(self.policy)
        self._values, self._infoset_values = workspace(game.tree)

    def run(self, iterations: int) -> None:
        """Do so many more iterations."""
        times = range(self.iteration + 1, self.iteration + iterations + 1)
        iterate_best_replies(
            self.game.tree,
            self.game.payoff,
            numbers_of(self.play, "step", times),
            numbers_of(self.play, "optimism", times),
            self.updates == "alternating",
            self.policy,
            self.reply,
            self.average,
            self._target,
            self._values,
            self._infoset_values,
        )
        self.iteration += iterations

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Replies and averages."""
        return {"policy": self.policy, "reply": self.reply, "average": self.average}
