"""Rule-based poker baselines: always fold, call or go all-in, and four playing styles.

The four styles use only a hand's strength: its rank by check-down equity against a random hand, from 0 (weakest) to 1
(strongest). With several opponents left in the hand it is raised to the power of their number, as if each were beaten
independently. They ignore the opponents' bets.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.spec import nearest
from treeplex.errors import GameError, SpecError
from treeplex.games.public import Bets, PublicGame
from treeplex.search.agents.agent import BaseAgent
from treeplex.search.subgames.beliefs import Belief

NEVER = 2.0


class Style(NamedTuple):
    """Strength thresholds of a playing style.

    Attributes:
        call: minimum strength to call a bet.
        bet: minimum strength to bet.
        raises: minimum strength to raise.
        size: bet and raise size as a multiple of the pot; the nearest available size is used.
        about: one-line description.
    """

    call: float
    bet: float
    raises: float
    size: float
    about: str


STYLES = {
    "folder": Style(NEVER, NEVER, NEVER, 1.0, "folds to every bet, otherwise checks"),
    "caller": Style(0.0, NEVER, NEVER, 1.0, "checks and calls"),
    "shover": Style(0.0, 0.0, 0.0, np.inf, "goes all-in with every hand"),
    "rock": Style(0.75, 0.90, 0.97, 0.75, "tight and passive: plays few hands and rarely raises"),
    "regular": Style(0.60, 0.65, 0.85, 0.75, "tight and aggressive: plays few hands and bets them"),
    "station": Style(0.20, 0.95, 0.99, 0.75, "loose and passive: calls with most hands"),
    "maniac": Style(0.35, 0.30, 0.60, 1.0, "loose and aggressive: bets most hands"),
}
"""By name."""


class RuleAgent(BaseAgent):
    """Plays any two-player poker game, or hold'em with more players, in a given :class:`Style`.

    Attributes:
        style, about: the style and its description.
        opponents: number of opponents who have not folded.
    """

    draws = False

    def __init__(self, game: PublicGame, style: str, generator: np.random.Generator | None = None) -> None:
        """Create the agent.

        Raises:
            GameError: the game is neither two-player poker nor hold'em.
            SpecError: the style is unknown.
        """
        super().__init__(game, generator)
        if style not in STYLES:
            raise SpecError(f"unknown style {style!r}{nearest(style, STYLES)}; known: {', '.join(STYLES)}")
        if game.stakes_at(game.first_state()) is None or (game.players > 2 and not game.checks_down):
            raise GameError(f"agent rules needs two-player poker, not {game.title}; use a game such as leduc_poker or holdem")
        self.style, self.about = STYLES[style], STYLES[style].about
        self._first, self.opponents = game, game.players - 1
        self._strength = lru_cache(maxsize=64)(self._strength_on)

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`."""
        self.sit(seat, generator)
        self.game, self.state = (self._first, self._first.first_state()) if at is None else (at.game, at.state)
        self.opponents = self.game.players - 1

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        bets, labels = self.game.bets(self.state), self.game.options(self.state).labels
        if bets is not None and event in labels and bets.kinds[list(labels).index(event)] == "fold":
            self.opponents -= 1
        self.state = self.game.after(self.state, event)

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`; a pure action for every hand."""
        self.check_acting()
        bets, player = self.game.bets(self.state), self.game.options(self.state).player
        possible = self.game.possible(self.state)[player] > 0
        if bets is None:
            raise GameError(
                f"{self.game.name_of(self.state)} is not a betting decision, which agent rules needs; use another agent"
            )
        chosen = self._chosen(bets, player)
        table = np.full((len(bets.kinds), len(possible)), 1.0 / len(bets.kinds))
        table[:, possible] = (np.arange(len(table))[:, None] == chosen)[:, possible]
        return table

    def _chosen(self, bets: Bets, player: int) -> NDArray[np.int64]:
        """The index of each hand's action, int64 [H]."""
        style, faces_bet = self.style, "fold" in bets.kinds
        size = len(self.game.possible(self.state)[player])
        simple = {style.call, style.bet, style.raises} <= {0.0, NEVER}
        strength = np.full(size, 0.5) if simple else self._strength(self.game, self.state, player) ** max(self.opponents, 1)
        passive, offered = bets.kinds.index("pass"), [k for k, kind in enumerate(bets.kinds) if kind == "bet"]
        actions = np.full(size, passive)
        if faces_bet:
            actions[strength < style.call] = bets.kinds.index("fold")
        if offered:
            sizes = np.log(np.maximum(bets.sizes[offered], 1e-9))
            near = offered[int(sizes.argmax() if np.isinf(style.size) else np.abs(sizes - np.log(style.size)).argmin())]
            actions[strength >= (style.raises if faces_bet else style.bet)] = near
        return actions

    @staticmethod
    def _strength_on(game: PublicGame, state: object, player: int) -> Floats:
        """Fraction of possible hands that are weaker, counting ties as half, float64 [H]."""
        possible = game.possible(state)
        shares = np.round(game.pot_shares(state, possible, player), 9)
        ordered = np.sort(shares[possible[player] > 0])
        below = np.searchsorted(ordered, shares) + np.searchsorted(ordered, shares, side="right")
        return np.asarray(below / (2 * len(ordered)))
