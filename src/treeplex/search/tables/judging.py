"""Evaluation of a person's decisions by a solution, or in large games by an estimate."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from time import monotonic
from typing import Any

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError, GameError
from treeplex.evaluate.history_values import HistoryValues
from treeplex.evaluate.judge import judge
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.views.histories import grow
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import Game
from treeplex.games.public import Bets, PublicGame, State
from treeplex.search.agents.agent import Agent
from treeplex.search.agents.solving import SubgameAgent
from treeplex.search.evaluate.aivat import Aivat, PolicyValues
from treeplex.search.evaluate.lbr import LocalBestResponse, Moves
from treeplex.search.evaluate.play import PlayedHand
from treeplex.solvers import make_solver

MOST_HISTORIES = 100_000
"""Maximum number of histories of a game that is solved before a person starts to play."""
ITERATIONS = 1000
"""Iterations of CFR+ for the solution that evaluates decisions."""
MOST_PLAYED, LONGEST_SOLVE, LEAST_ITERATIONS = 1_000_000, 5.0, 50
"""Maximum number of histories of a game whose solution only plays, and limits of its solve: seconds, or iterations if these
take longer."""
MOST_BETS = 12
"""Maximum number of actions for which an estimate evaluates bets; otherwise it evaluates only folds and calls."""
ESTIMATED = 0.05
"""Loss in an estimate, as a share of the pot, that is ignored."""
RARE = 0.05
"""Frequency in a chart below which an action counts as a mistake; in a solve, from which it belongs to the mix."""
CLOSE = 0.002
"""Loss in value, relative to the range of payoffs, that is ignored as the solution's remaining error."""


@dataclass(frozen=True)
class DecisionReview:
    """A person's decision, evaluated.

    Attributes:
        where: the street, round or other point of the game.
        options: names of the actions.
        chosen: index of the action taken.
        values: value of each action; NaN if unknown.
        policy: probability of each action under the solution or the agent; empty if unknown.
        by: source of the values: ``solution``, ``agent`` (its search), ``estimate``, ``chart`` (only frequencies), or empty
            (not judged).
        close: losses up to this size are no mistakes.
    """

    where: str
    options: tuple[str, ...]
    chosen: int
    values: tuple[float, ...]
    policy: tuple[float, ...]
    by: str
    close: float = 0.0

    @property
    def lost(self) -> float:
        """Loss compared with the best action; NaN if unknown."""
        known = [value for value in self.values if value == value]
        return max(known, default=float("nan")) - self.values[self.chosen]

    @property
    def counted(self) -> float | None:
        """The loss in totals: by a search without small losses, None by an estimate or if unknown."""
        if self.by not in ("solution", "agent") or not np.isfinite(self.lost):
            return None
        return self.lost if self.by == "solution" or self.lost > self.close else 0.0

    @property
    def verdict(self) -> str:
        """``best``, ``mixed`` (one of several equally good actions), ``mistake``, or ``unknown``.

        A chart has no values: its most frequent action is best, one below :data:`RARE` a mistake.
        """
        if self.by == "chart":
            share = self.policy[self.chosen]
            return "best" if share >= max(self.policy) else "mixed" if share >= RARE else "mistake"
        if not np.isfinite(self.lost):
            return "unknown"
        if self.lost > self.close:
            return "mistake"
        return "mixed" if sum(chance > 0.01 for chance in self.policy) > 1 else "best"

    def plain(self) -> dict[str, Any]:
        """The decision as plain data for the page."""
        return {**vars(self), "lost": self.lost, "verdict": self.verdict}


class SolvedGame:
    """A small game with its solution, for evaluating decisions."""

    def __init__(self, rules: Game, values: HistoryValues) -> None:
        self.rules, self.values = rules, values
        self._worth: PolicyValues | None = None

    @classmethod
    def of(cls, rules: Game, policy: Policy | None = None) -> "SolvedGame | None":
        """Solve a game, or use a given policy as solution; None if the game is too large or has more than two players."""
        if rules.num_players != 2:
            return None
        try:
            tree = grow(rules, limit=MOST_HISTORIES)
            if policy is None:
                solver = make_solver(compile_game(rules, limit=MOST_HISTORIES), "cfr+")
                solver.run(ITERATIONS)
                policy = solver.average_policy()
        except (GameError, AlgorithmError):
            return None
        return cls(rules, HistoryValues(tree, policy))

    @cached_property
    def close(self) -> float:
        """Losses up to this size are ignored, in the game's units."""
        payoffs = self.values.tree.histories.payoffs
        return CLOSE * float(payoffs.max() - payoffs.min())

    def judge(self, player: int, infostate: str, where: str, options: dict[int, str], action: int) -> DecisionReview | None:
        """Evaluate a decision at an infostate; None if the solution has no such infostate."""
        infoset = self.values.infosets.get((player, infostate))
        if infoset is None:
            return None
        values, policy = self.values.action_values[infoset], self.values.probabilities[infoset]
        chosen = list(options).index(action)
        return DecisionReview(
            where, (*options.values(),), chosen, (*values.tolist(),), (*policy.tolist(),), "solution", self.close
        )

    def luckless(self, game: PublicGame, hand: PlayedHand, person: int) -> list[float] | None:
        """Luck-adjusted payoffs, by AIVAT with the policies of everyone except the person; None if inapplicable."""
        try:
            if self._worth is None or self._worth.rules is not game:
                self._worth = PolicyValues(game, self.values.policy)
            known = [seat for seat in range(game.players) if seat != person]
            return list(map(float, Aivat(game, self._worth, known=known)(hand)))
        except GameError:
            return None


@dataclass(frozen=True)
class QuickSolution:
    """The solution of a game that is too large to evaluate decisions, but solved in seconds.

    Attributes:
        policy: the average strategy.
        iterations: iterations of CFR+.
        exploitability: its exploitability, in the game's units.
    """

    policy: Policy
    iterations: int
    exploitability: float

    @classmethod
    def of(cls, rules: Game) -> "QuickSolution | None":
        """Solve a two-player game for :data:`LONGEST_SOLVE` seconds; None if it has more than :data:`MOST_PLAYED` histories."""
        if rules.num_players != 2:
            return None
        try:
            game = compile_game(rules, limit=MOST_PLAYED)
            solver, ends = make_solver(game, "cfr+"), monotonic() + LONGEST_SOLVE
            while solver.iteration < LEAST_ITERATIONS or (solver.iteration < ITERATIONS and monotonic() < ends):
                solver.run(10)
        except (GameError, AlgorithmError):
            return None
        policy = solver.average_policy()
        return cls(policy, solver.iteration, judge(game, policy).exploitability)


@dataclass(frozen=True)
class Among(Moves):
    """Move filter that selects actions by index."""

    numbers: tuple[int, ...] = ()

    def considered(self, bets: Bets, betting_round: int) -> list[int]:
        return list(self.numbers)


def estimate(
    agent: Agent, state: State, ranges: Sequence[Floats], hand: int, where: str, options: dict[int, str], action: int
) -> DecisionReview | None:
    """Evaluate a decision in two-player poker as a local best response would: see :mod:`treeplex.search.evaluate.lbr`.

    The agent is assumed to respond to a bet with its policy, after which all check and call; folding has value 0. Bets are not
    evaluated (their values are NaN) if the agent searches, since its responses are not computed, or if there are more than
    :data:`MOST_BETS` actions.

    Args:
        agent: the opponent, at this state.
        state: a state of the agent's game.
        ranges: float64 [H] for each player, the range given its actions so far.
        hand: the hand of the player to act.
        where, options, action: the point of the game, the actions by label, and the action taken.

    Returns:
        The evaluated decision; None for games other than two-player poker.
    """
    game = agent.game
    bets = game.bets(state)
    if game.players != 2 or bets is None or game.stakes_at(state) is None:
        return None
    labels = [int(label) for label in game.options(state).labels]
    searches = isinstance(agent, SubgameAgent) or any(getattr(agent, name, None) is not None for name in ("think", "thought"))
    quick = getattr(agent, "draws", None) is False and not searches and len(options) <= MOST_BETS
    priced = quick or (isinstance(agent, LocalBestResponse) and len(bets.kinds) <= MOST_BETS)
    moves = Among(numbers=tuple(map(labels.index, options))) if priced else Moves("fc")
    judge = LocalBestResponse.from_here(agent, state, ranges, moves)
    worth = dict(zip(labels, judge.utilities()[:, hand].tolist(), strict=True))
    values = tuple(worth[label] if np.isfinite(worth[label]) else float("nan") for label in options)
    chosen = list(options).index(action)
    if not np.isfinite(values[chosen]):
        values = (float("nan"),) * len(values)
    return DecisionReview(where, (*options.values(),), chosen, values, (), "estimate", ESTIMATED * bets.pot)
