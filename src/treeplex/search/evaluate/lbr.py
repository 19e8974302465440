"""Local best response: a lower bound on exploitability (Lisý and Bowling 2017).

It knows its opponent's policy, tracks the opponent's range by Bayes' rule, and takes the action that is best if both players
check and call from then on. With p its share of the pot against that range, s chips in the pot, and c chips to call, the values
are

    fold   0
    call   p s - (1 - p) c
    bet b  f s + (1 - f) (p' (s + b) - (1 - p') (c + b))

where the opponent folds with probability f to a bet of b chips more than a call, and p' is the share against the continuing
range (algorithm 1). Chips that the opponent cannot match are never at stake, and rake is subtracted from winnings. It is a
valid policy, so its winnings are a lower bound on those of a best response.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError, SpecError
from treeplex.games.betting.stakes import Stakes
from treeplex.games.public import Bets, PublicGame, State
from treeplex.search.agents.agent import Agent, BaseAgent, fork
from treeplex.search.subgames.beliefs import Belief

SIZES = {"h": 0.5, "p": 1.0, "a": np.inf}
"""Bets by letter, as shares of the pot after a call: half pot, pot, all-in."""

ROUNDING = 1e-9
"""Difference, in pots, below which actions are equally good; folding is preferred, then the first of them."""


@dataclass(frozen=True)
class Moves:
    """The available actions that a local best response considers.

    Attributes:
        actions: ``all``, or ``fc`` (fold, check and call) followed by any of ``h`` (bet half the pot), ``p`` (bet the pot) and
            ``a`` (largest bet), such as ``fcpa``. Each size means the nearest available bet.
        first_round: first betting round in which it considers other actions than check and call, from 0; in hold'em 2 is the
            turn.

    Raises:
        SpecError: unknown letters, or a negative round.
    """

    actions: str = "all"
    first_round: int = 0

    def __post_init__(self) -> None:
        if self.actions != "all" and not re.fullmatch("fc[hpa]*", self.actions):
            raise SpecError(
                f"actions is {self.actions!r}; write all, or fc and any of h (half pot), p (pot) and a (all-in), such as fcpa"
            )
        if self.first_round < 0:
            raise SpecError(f"first_round is {self.first_round}; give 0 or more")

    def considered(self, bets: Bets, betting_round: int) -> list[int]:
        """Return the indices of those actions that the response considers in a betting round."""
        passive = [number for number, kind in enumerate(bets.kinds) if kind != "bet"]
        offered = [number for number, kind in enumerate(bets.kinds) if kind == "bet"]
        if betting_round < self.first_round:
            return [bets.kinds.index("pass")]
        if self.actions == "all" or not offered:
            return passive + offered
        largest = max(offered, key=lambda number: bets.sizes[number])
        near = [
            largest if letter == "a" else min(offered, key=lambda number: abs(np.log(bets.sizes[number] / SIZES[letter])))
            for letter in self.actions[2:]
        ]
        return passive + list(dict.fromkeys(near))


class LocalBestResponse(BaseAgent):
    """Plays a local best response to an agent, in either seat.

    It knows the agent's policy but not its random draws: it reads the policies of copies that draw independently.

    Attributes:
        moves: the actions considered.
        models: copies of the agent; an agent with a random policy is modelled better by more copies.
        reached: float64 [models, H_i] for each player, reach under each copy.
    """

    def __init__(
        self, opponent: Agent, generator: np.random.Generator | None = None, *, moves: Moves | None = None, models: int = 1
    ) -> None:
        """Create the agent.

        Args:
            opponent: the agent to model; only copies of it are used.
            generator: random generator for draws.
            moves: the actions considered; None for all.
            models: number of copies.

        Raises:
            GameError: the game is not two-player poker.
        """
        super().__init__(opponent.game, generator)
        if opponent.game.stakes_at(opponent.game.first_state()) is None or opponent.game.players != 2:
            raise GameError("a local best response needs two-player poker; train a best response instead")
        self.moves, self._first = moves or Moves(), opponent.game
        self.models = [fork(opponent) for _ in range(models)]
        self.reached: list[Floats] = []
        self.begin()

    @classmethod
    def from_here(cls, opponent: Agent, state: State, ranges: Sequence[Floats], moves: Moves) -> "LocalBestResponse":
        """A local best response from a state of the opponent's game on, where the players have these ranges, float64 [H]."""
        made = cls(opponent, moves=moves)
        made.game, made.state, made.models = opponent.game, state, [fork(opponent)]
        made.reached = [np.atleast_2d(weights) for weights in ranges]
        return made

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`."""
        self.sit(seat, generator)
        for model in self.models:
            model.begin(None if seat is None else 1 - seat, np.random.default_rng(self.generator.integers(2**63)), at=at)
        start = Belief.root(self._first) if at is None else at
        self.game, self.state, ranges = start.game, start.state, start.ranges
        self.reached = [np.tile(weights, (len(self.models), 1)) for weights in ranges]

    def fork(self) -> "LocalBestResponse":
        """See :meth:`treeplex.search.agents.agent.BaseAgent.fork`."""
        copied = super().fork()
        assert isinstance(copied, LocalBestResponse)
        copied.models, copied.reached = [fork(model) for model in self.models], list(self.reached)
        return copied

    def close(self) -> None:
        """See :meth:`treeplex.search.agents.agent.BaseAgent.close`."""
        for model in self.models:
            if isinstance(model, BaseAgent):
                model.close()

    def remarks(self) -> list[str]:
        """See :meth:`treeplex.search.agents.agent.BaseAgent.remarks`."""
        return [remark for model in self.models if isinstance(model, BaseAgent) for remark in model.remarks()]

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        options, following = self.game.options(self.state), self.game.after(self.state, event)
        if options.player >= 0 and options.player != self.player:
            number = list(options.labels).index(event)
            played = np.array([model.policy()[number] for model in self.models])
            self.reached[options.player] = self.reached[options.player] * played
        for model in self.models:
            model.see(event)
        self.state = following

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`; a pure action for every hand.

        Raises:
            GameError: no player is to act.
        """
        self.check_acting()
        options = self.game.options(self.state)
        utilities = self.utilities()
        best = utilities >= utilities.max(axis=0) - ROUNDING * sum(stakes_of(self.game, self.state).paid)
        possible = self.game.possible(self.state)[options.player] > 0
        table = np.full(utilities.shape, 1.0 / len(utilities))
        table[:, possible] = np.arange(len(table))[:, None] == best.argmax(axis=0)[possible]
        return table

    def utilities(self) -> Floats:
        """Value of each action with each hand of the player to act, in chips relative to folding, float64 [A, H]; -inf if not
        considered.
        """
        game, state, options = self.game, self.state, self.game.options(self.state)
        player, stakes, bets = options.player, stakes_of(game, state), game.bets(state)
        assert bets is not None
        put = stakes.paid[player]  # chips forfeited by folding
        utilities = np.full((len(options.labels), len(game.possible(state)[player])), -np.inf)
        reached, ranges = self._others(self.reached[1 - player]), [np.zeros(0), np.zeros(0)]
        ranges[1 - player] = reached.sum(axis=0)
        met = game.opposing(state, ranges, player)
        for number in self.moves.considered(bets, stakes.betting_round):
            if bets.kinds[number] == "fold":
                utilities[number] = 0.0
                continue
            label = options.labels[number]
            folding, folded = self._folding(label, 1 - player) if bets.kinds[number] == "bet" else (np.zeros(1), None)
            ranges[1 - player] = (reached * (1.0 - folding)).sum(axis=0)
            share, left = game.pot_shares(state, ranges, player), game.opposing(state, ranges, player)
            win, lose = game.showdown_payoffs(game.after(state, label), player)
            called = lose + (win - lose) * share
            if folded is None:
                utilities[number] = put + called
                continue
            ranges[1 - player] = (reached * folding).sum(axis=0)
            won = game.terminal_values(folded, ranges, player) + left * called
            utilities[number] = put + np.divide(won, met, out=called, where=met > 0)
        return utilities

    def _others(self, reached: Floats) -> Floats:
        """Ranges of the copies, [models, H]; uniform if no copy can reach this state."""
        possible = self.game.possible(self.state)[1 - self.game.options(self.state).player]
        ranges = reached * possible
        return ranges if ranges.sum() > 0 else np.tile(possible, (len(ranges), 1))

    def _folding(self, label: int, other: int) -> tuple[Floats, State | None]:
        """Each hand's probability of folding to a bet, float64 [models, H], and the state after the fold.

        Zeros and None if the opponent cannot fold.
        """
        after = self.game.after(self.state, label)
        answers, options = self.game.bets(after), self.game.options(after)
        if answers is None or "fold" not in answers.kinds or options.player != other:
            return np.zeros_like(self.reached[other]), None
        number, chances = answers.kinds.index("fold"), []
        for model in self.models:
            ahead = fork(model)
            ahead.see(label)
            chances.append(ahead.policy()[number])
        return np.array(chances), self.game.after(after, options.labels[number])


def stakes_of(game: PublicGame, state: State) -> Stakes:
    """The chips at a poker state."""
    stakes = game.stakes_at(state)
    assert stakes is not None
    return stakes
