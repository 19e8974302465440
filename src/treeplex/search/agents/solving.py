"""Base of agents that solve subgames in play: solution cache, time limits, added actions."""

from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Generic, Protocol, TypeVar

import numpy as np

from treeplex.errors import GameError
from treeplex.games.base import TERMINAL, Game
from treeplex.games.public import PublicGame, State
from treeplex.search.action_subset import ActionAbstraction
from treeplex.search.agents.agent import BaseAgent, Thought


@dataclass(frozen=True, eq=False, kw_only=True)
class SolvedSubgame:
    """A subgame that an agent has solved.

    Attributes:
        effort: what that took; None while it is solved.
    """

    effort: Thought | None = field(default=None, repr=False)


Kept = TypeVar("Kept", bound=SolvedSubgame)


class Iterated(Protocol):
    """Something that is solved by iterations."""

    @property
    def iteration(self) -> int: ...
    def run(self, iterations: int) -> None: ...


Key = tuple[Hashable, tuple[int, ...], Hashable]
"""Of a solved subgame: the game's key, the path to where it begins, and what else tells it from others."""


class SubgameAgent(BaseAgent, Generic[Kept]):
    """An agent that solves subgames while it plays.

    Attributes:
        game, state, think, thought: see :class:`treeplex.search.BaseAgent`. Iterations, time and subgames are those
            since the last policy was asked for.
        remember: solved subgames that are kept for later plays, those at the beginning of a play longest.
        searches: subgames solved so far, those remembered not counted.
    """

    draws = False

    def __init__(self, game: PublicGame | str | Game, generator: np.random.Generator | None, remember: int) -> None:
        super().__init__(game, generator)
        self.remember, self.searches = remember, 0
        self._known: OrderedDict[Key, Kept] = OrderedDict()
        self._spent, self._clock = Thought(0, 0.0, 0), 0.0

    def forget(self) -> None:
        """Forget the subgames that were solved in earlier plays."""
        self._known.clear()

    def recall(self, key: Key, solve: Callable[[], Kept], keep: Callable[[Kept], bool] = lambda found: True) -> Kept:
        """A solved subgame: remembered, or solved now, and then remembered if it is one to ``keep``."""
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        before, self._clock = self._spent.iterations, perf_counter()
        found = solve()
        spent, seconds = self._spent, perf_counter() - self._clock
        found = replace(found, effort=Thought(spent.iterations - before, seconds, boards=spent.boards))
        self._spent = spent._replace(seconds=spent.seconds + seconds, subgames=spent.subgames + 1)
        if self.remember and keep(found):
            self._known[key] = found
            while len(self._known) > self.remember:
                oldest = next((each for each in self._known if each[1]), next(iter(self._known)))
                del self._known[oldest]
        return found

    def run(self, search: Iterated, iterations: int, before: Callable[[int], None] | None = None) -> int:
        """Run a search to its end, or until the time to think is up, but one iteration at least.

        Args:
            search: the search.
            iterations: in all, those counted that it begins with.
            before: called before each iteration with how many were done.

        Returns:
            How many iterations were done in all.
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
            if before is None:  # half of what may still fit: several iterations at once are faster
                each = (perf_counter() - began) / (search.iteration - first)
                step = 1 + int(min(0.5 * self.time_left / each, iterations))
        self._spent = self._spent._replace(iterations=self._spent.iterations + search.iteration - first)
        return search.iteration

    @property
    def time_left(self) -> float:
        """Seconds of the time to think that are left, while a subgame is solved; infinite without a limit."""
        return np.inf if self.think is None else self.think - (perf_counter() - self._clock + self._spent.seconds)

    def spent(self, seconds: float) -> None:
        """So long has the next decision taken until now, what was done outside included."""
        self._spent = self._spent._replace(seconds=seconds)

    def decided(self) -> None:
        """Say in :attr:`thought` what was thought since the last decision."""
        self.thought, self._spent = self._spent, Thought(0, 0.0, 0)

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`.

        An action that an :class:`ActionAbstraction` leaves out is added first, see :meth:`add`.
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
        """An event of this game, and the state after it."""

    def add(self, action: float) -> int:
        """Consider one more action here for the rest of this play; its label.

        What was solved on the way here is solved again with it (Brown et al. 2020, section 6: actions outside the tree are
        added to it).

        Args:
            action: as :meth:`treeplex.games.public.PublicGame.with_action` has it: in hold'em chips, in all on this street.

        Raises:
            GameError: no player acts here, or the rules have no such action.
        """
        self.check_acting()
        game, label = self.game.with_action(self.state, action)
        if game is self.game:
            return label
        before = dict(vars(self))
        try:
            self.change_game(game)
            _, label = self.game.with_action(self.state, action)
        except BaseException:  # nothing is half done: the play stands as it stood
            vars(self).update(before)
            raise
        return label

    @abstractmethod
    def change_game(self, game: PublicGame) -> None:
        """Go on here in another version of the game."""
