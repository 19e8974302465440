"""Base class for agents that solve subgames during play: cached solutions, time limits, off-tree actions."""

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Generic, Protocol, TypeVar

import numpy as np

from treeplex.errors import GameError
from treeplex.forms.sources.load import no_public_tree
from treeplex.games.base import TERMINAL, Game
from treeplex.games.public import PublicGame, State
from treeplex.search.action_subset import ActionAbstraction
from treeplex.search.agents.agent import BaseAgent, Thought


@dataclass(frozen=True, eq=False, kw_only=True)
class SolvedSubgame:
    """A subgame that an agent has solved.

    Attributes:
        effort: cost of the solve; None while it is running.
    """

    effort: Thought | None = field(default=None, repr=False)


SolutionT = TypeVar("SolutionT", bound=SolvedSubgame)


class IterativeSolver(Protocol):
    """Protocol for iterative solvers."""

    @property
    def iteration(self) -> int: ...
    def run(self, iterations: int) -> None: ...


Key = tuple[Hashable, tuple[int, ...], Hashable]
"""Key of a solved subgame: the game's key, the path to its start, and further details."""


class SubgameAgent(BaseAgent, Generic[SolutionT]):
    """An agent that solves subgames during play.

    Attributes:
        game, state, think, thought: see :class:`treeplex.search.BaseAgent`. Iterations, time and subgames are totals since the
            last policy was read.
        remember: number of solved subgames cached across playthroughs; those at the start of the game are kept longest.
        searches: number of subgames solved so far, excluding cached ones.
    """

    draws = False

    def __init__(self, game: PublicGame | str | Game, generator: np.random.Generator | None, remember: int) -> None:
        super().__init__(game, generator)
        if not self.game.cut_after:
            raise GameError(no_public_tree(self.game))
        self.remember, self.searches = remember, 0
        self._known: OrderedDict[Key, SolutionT] = OrderedDict()
        self._spent, self._clock, self._share = Thought(0, 0.0, 0), 0.0, 1.0

    def sit(self, seat: int | None, generator: np.random.Generator | None) -> None:
        super().sit(seat, generator)
        self._spent = Thought(0, 0.0, 0)

    def forget(self) -> None:
        """Clear the cache of subgames solved in earlier playthroughs."""
        self._known.clear()

    def recall(
        self,
        key: Key,
        solve: Callable[[], SolutionT],
        keep: Callable[[SolutionT], bool] = lambda solution: True,
        *,
        share: float = 1.0,
    ) -> SolutionT:
        """Return a solved subgame from the cache, or solve it now.

        Args:
            key: its key.
            solve: solves it.
            keep: whether to cache a solution.
            share: share of the remaining thinking time that the solve may use; below 1 if the decision needs further solves.
        """
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        before, self._clock, self._share = self._spent.iterations, perf_counter(), share
        solution = solve()
        spent, seconds = self._spent, perf_counter() - self._clock
        solution = replace(solution, effort=Thought(spent.iterations - before, seconds, boards=spent.boards))
        self._spent = spent._replace(seconds=spent.seconds + seconds, subgames=spent.subgames + 1)
        if self.remember and keep(solution):
            self._known[key] = solution
            while len(self._known) > self.remember:
                oldest = next((cached for cached in self._known if cached[1]), next(iter(self._known)))
                del self._known[oldest]
        return solution

    def run(self, search: IterativeSolver, iterations: int, before: Callable[[int], None] | None = None) -> int:
        """Run a search until it finishes or the thinking time is up, but for at least one iteration.

        Args:
            search: the search.
            iterations: total number of iterations, including those already done.
            before: called before each iteration with the number of iterations done.

        Returns:
            Total number of iterations done.
        """
        first, began, step = search.iteration, perf_counter(), 1
        if self.think is None and before is None:
            search.run(iterations - first)
        while search.iteration < iterations:
            if before is not None:
                before(search.iteration)
            search.run(min(step, iterations - search.iteration))
            if self.time_left <= 0:
                break
            if before is None:  # fewer, larger calls are faster: run half of the iterations that still fit
                seconds = (perf_counter() - began) / (search.iteration - first)
                step = 1 + int(min(0.5 * self.time_left / seconds, iterations))
        self._spent = self._spent._replace(iterations=self._spent.iterations + search.iteration - first)
        return search.iteration

    @property
    def time_left(self) -> float:
        """Remaining time of the present solve, in seconds; infinite without a limit."""
        if self.think is None:
            return np.inf
        return self._share * (self.think - self._spent.seconds) - (perf_counter() - self._clock)

    def spent(self, seconds: float) -> None:
        """Set the time already used for the next decision, including time spent outside the agent."""
        self._spent = self._spent._replace(seconds=seconds)

    def decided(self) -> None:
        """Store the effort since the last decision in :attr:`thought`."""
        self.thought, self._spent = self._spent, Thought(0, 0.0, 0)

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`.

        An action missing from an :class:`ActionAbstraction` is added first, see :meth:`add`.
        """
        options = self.game.options(self.state)
        if options.player == TERMINAL:
            raise GameError(f"the game is over at {self.game.name_of(self.state)}")
        if options.private:
            event = options.labels[0]
        elif options.player >= 0 and event not in options.labels and isinstance(self.game, ActionAbstraction):
            event = self.add(event)
        self.move(event, self.game.after(self.state, event))

    @abstractmethod
    def move(self, event: int, following: State) -> None:
        """Process an event that leads to the state ``following``."""

    def add(self, action: float) -> int:
        """Add an action to the current state for the rest of this playthrough; returns its label.

        Subgames already solved on the current path are solved again with the new action (Brown et al. 2020, section 6, which
        adds off-tree actions to the tree).

        Args:
            action: as in :meth:`treeplex.games.public.PublicGame.with_action`: in hold'em total chips on this street.

        Raises:
            GameError: no player is to act, or the action is illegal.
        """
        self.check_acting()
        game, label = self.game.with_action(self.state, action)
        if game is self.game:
            return label
        before = dict(vars(self))
        try:
            self.change_game(game)
            _, label = self.game.with_action(self.state, action)
        except BaseException:  # restore the agent's previous state
            vars(self).update(before)
            raise
        return label

    @abstractmethod
    def change_game(self, game: PublicGame) -> None:
        """Continue from the current state in another version of the game."""
