"""Search with any number of players, as in Pluribus (Brown and Sandholm 2019, "Superhuman AI for multiplayer poker").

To act, the agent solves a subgame that begins at the start of the current betting round, with the beliefs about all players
there, and ends with the round. After the round every player chooses among continuations: the blueprint, and versions of it
biased towards folding, calling and raising. So no player can rely on the others' play being fixed. With more than two players
the result is not guaranteed to be safe or an equilibrium, so gains have to be measured.

Rounds are searched exactly, by summing over all deals (this module), or by sampling
(:mod:`treeplex.search.many_players.sampled_rounds`).
"""

from collections import OrderedDict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import AlgorithmError, GameError
from treeplex.forms.policies.tabular import Policy
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.card_game import CardGame
from treeplex.games.public import State, check_entries
from treeplex.search.agents.agent import BaseAgent, Thought
from treeplex.search.subgames.beliefs import Belief, with_trace
from treeplex.search.subgames.many_players import Considered, RoundSubgame, cut_round
from treeplex.search.subgames.policy_tables import table_at
from treeplex.solvers.rules.variants import VARIANTS
from treeplex.solvers.solver import GameSolver

FROZEN = 1e15
"""Factor on a frozen policy to set its regrets, so large that no iteration changes the policy."""
STEP = 10
"""Number of iterations between checks of the time limit."""
ResultT = TypeVar("ResultT")


class Continuations:
    """Exact expected payoffs at a public state under the players' continuation policies.

    The policies are a blueprint and versions of it biased towards folding, calling and raising, as in
    :func:`treeplex.search.resolving.continuations.biased_policies`. The first word of an action's name determines which bias
    applies to it.
    """

    def __init__(self, game: CardGame, blueprint: Policy, count: int = 4, bias: float = 5.0) -> None:
        """Create the continuations of a blueprint.

        Args:
            game: the public game.
            blueprint: its policy.
            count: number of policies from which each remaining player chooses, 1 to 4.
            bias: factor by which a biased version multiplies probabilities.

        Raises:
            AlgorithmError: an invalid count, or a bias that is not above 0.
        """
        if not (1 <= count <= 4 and bias > 0):
            raise AlgorithmError(f"leaves need 1 to 4 continuations with a bias above 0, not {count!r} with bias {bias!r}")
        self.game, self.blueprint, self.count, self.bias = game, blueprint, count, bias
        self._known: dict[State, Floats] = {}

    def tables(self, state: State) -> Floats:
        """Continuation policies of the player to act at a public state, float64 [C, A, H]."""
        table = table_at(self.blueprint, self.game, state)
        kinds = [self.game.kind_of(state, label) for label in self.game.options(state).labels]
        tables = [table]
        for way in range(self.count - 1):
            weights = table * np.array([self.bias if kind == way else 1.0 for kind in kinds])[:, None]
            tables.append(weights / weights.sum(axis=0))
        return np.stack(tables)

    def __call__(self, state: State, deals: Ints) -> Floats:
        """See :data:`treeplex.search.subgames.many_players.Leaf`; cached, since the result does not depend on beliefs.

        Raises:
            GameError: there are too many deals and combinations of continuations.
        """
        if state not in self._known:
            check_entries(f"a search at {self.game.name_of(state)}", deals.size * self.count**self.game.players)
            self._known[state] = self._expected(state, deals)
        return self._known[state]

    def _expected(self, state: State, deals: Ints) -> Floats:
        """Expected payoffs, float64 [C_0, ..., D, N], with C_i = 1 for players who no longer act."""
        options, players = self.game.options(state), self.game.players
        if options.player == TERMINAL:
            return self.game.payoffs_of(state, deals)[(None,) * players]
        if options.player == CHANCE:
            total = np.zeros((1,) * players + deals.shape)
            for label, chances in zip(options.labels, self.game.chances_of(state, deals).T, strict=True):
                met = np.flatnonzero(chances > 0)
                if len(met):
                    below = self._expected(self.game.after(state, label), deals[met]) * chances[met, None]
                    if below.shape[:players] != total.shape[:players]:
                        total = np.broadcast_to(total, below.shape[:players] + deals.shape).copy()
                    total[..., met, :] += below
            return total
        share = self.tables(state)
        along = tuple(self.count if seat == options.player else 1 for seat in range(players))
        parts = (
            share[:, number][:, deals[:, options.player]].reshape(*along, len(deals), 1)
            * self._expected(self.game.after(state, label), deals)
            for number, label in enumerate(options.labels)
        )
        value = next(parts)
        for part in parts:
            value = value + part
        return value


class FoundRound(Protocol):
    """The result of searching a round.

    Attributes:
        iterations, seconds: cost of the search.
    """

    @property
    def iterations(self) -> int: ...
    @property
    def seconds(self) -> float: ...

    def table(self, state: State, *, average: bool) -> Floats:
        """The policy for every hand at a public state, float64 [A, H]: average or last iterate."""
        ...

    def plays(self, state: State, label: int) -> bool:
        """Whether the search considered an action."""
        ...

    def remembered(self) -> "FoundRound":
        """A copy with 0 iterations and 0 seconds, for a cached result."""
        ...


class Rounds(Protocol):
    """Protocol for searching betting rounds with a blueprint.

    Attributes:
        game: the game.
    """

    @property
    def game(self) -> CardGame: ...

    def blueprint_at(self, state: State) -> Floats:
        """The blueprint's policy for every hand at a decision, float64 [A, H]."""
        ...

    def solve(
        self,
        root: State,
        ranges: Sequence[Floats],
        frozen: Mapping[State, Floats],
        line: Sequence[tuple[State, int]] = (),
        think: float | None = None,
    ) -> FoundRound:
        """Search a round.

        Args:
            root: the state at the start of the round.
            ranges: float64 [H] for each player, the ranges there.
            frozen: fixed policies by public state, float64 [A, H].
            line: the actions so far in the round, as pairs of a public state and an action.
            think: time limit in seconds; None for no limit.

        Returns:
            The policies of the search.

        Raises:
            GameError: the ranges have no compatible hands, or the round is too large.
        """
        ...


class SearchResult(NamedTuple):
    """Result of a search: the last iteration's policy and the average policy, each float64 [Q] of the subgame.

    ``iterations`` and ``seconds`` are the cost of the search.
    """

    subgame: RoundSubgame
    last: Floats
    average: Floats
    iterations: int
    seconds: float

    def table(self, state: State, *, average: bool) -> Floats:
        """See :meth:`FoundRound.table`."""
        return self.subgame.table(self.average if average else self.last, state)

    def plays(self, state: State, label: int) -> bool:
        """See :meth:`FoundRound.plays`."""
        return label in self.subgame.labels.get(state, ())

    def remembered(self) -> "SearchResult":
        """See :meth:`FoundRound.remembered`."""
        return self._replace(iterations=0, seconds=0.0)


def search_round(
    subgame: RoundSubgame,
    ranges: Sequence[Floats],
    frozen: Mapping[State, Floats],
    *,
    iterations: int,
    think: float | None = None,
) -> SearchResult:
    """Solve a betting round by linear CFR.

    Args:
        subgame: the game from the start of the round.
        ranges: float64 [H] for each player, the ranges there.
        frozen: fixed policies by public state, float64 [A, H].
        iterations: maximum number of iterations.
        think: time limit in seconds, checked after every :data:`STEP` iterations; None for no limit.

    Returns:
        The last and the average policy, float64 [Q] of the subgame.

    Raises:
        GameError: the ranges have no compatible hands.
    """
    began = perf_counter()
    compiled = subgame.compiled([with_trace(weights) for weights in ranges])
    solver = GameSolver(compiled, VARIANTS["lcfr"])
    state = solver.tables.state
    for frozen_state, table in frozen.items():
        sequences = subgame.sequences[frozen_state]
        at = sequences >= 0
        fixed = table[subgame.rows(frozen_state)][at]
        state.policy[sequences[at]], state.regrets[sequences[at]] = fixed, FROZEN * fixed
    for player in range(compiled.players):
        reach(compiled.tree, player, state.policy, state.strategy)
    step = iterations if think is None else STEP
    while solver.iteration < iterations:
        solver.run(min(step, iterations - solver.iteration))
        if think is not None and perf_counter() - began >= think:
            break
    last, average = solver.policy.copy(), solver.average_policy().probabilities
    return SearchResult(subgame, last, average, solver.iteration, perf_counter() - began)


class EnumeratedRounds:
    """Searches rounds exactly, summing over all deals and all combinations of continuations.

    Attributes:
        game, leaf: the game, and the payoffs after a round.
        iterations: maximum number of iterations per search.
        considered: the actions that searches consider. If another action is played, it is added, and the round is searched
            again from its start.
    """

    def __init__(
        self, leaf: Continuations, *, iterations: int = 200, considered: Considered | None = None, remember: int = 33
    ) -> None:
        """Set up the searches; ``remember`` is the size of the subgame cache. Other arguments: see the attributes."""
        self.game, self.leaf, self.iterations, self.considered = leaf.game, leaf, iterations, considered
        self._subgames: RecentCache[RoundSubgame] = RecentCache(remember)

    def blueprint_at(self, state: State) -> Floats:
        """See :class:`Rounds`."""
        return table_at(self.leaf.blueprint, self.game, state)

    def solve(
        self,
        root: State,
        ranges: Sequence[Floats],
        frozen: Mapping[State, Floats],
        line: Sequence[tuple[State, int]] = (),
        think: float | None = None,
    ) -> SearchResult:
        """See :class:`Rounds`."""
        added = tuple(at_state for at_state in line if at_state[1] not in self._offered(at_state[0]))
        subgame = self._subgames.get((root, added))
        if subgame is None:

            def offered(state: State) -> Sequence[int]:
                wanted = {*self._offered(state), *(label for at_state, label in added if at_state == state)}
                return [label for label in self.game.options(state).labels if label in wanted]

            subgame = self._subgames.keep((root, added), cut_round(self.game, root, self.leaf, offered))
        return search_round(subgame, ranges, frozen, iterations=self.iterations, think=think)

    def _offered(self, state: State) -> Sequence[int]:
        """The actions that a search considers before any off-tree action is added."""
        return self.game.options(state).labels if self.considered is None else self.considered(state)


@dataclass
class View:
    """State of the agent in one seat.

    Attributes:
        belief: the belief at the start of the current round.
        found: the seat's last search in this round; None if it has not searched.
        played: the seat's policies in this round so far, by public state, float64 [A, H].
    """

    belief: Belief
    found: FoundRound | None = None
    played: dict[State, Floats] = field(default_factory=dict)


class RoundSearchAgent(BaseAgent):
    """Plays any seat of a card game, or all of them, by searching each betting round from its start.

    It plays the policy of the search's last iteration, and updates all beliefs (including those about itself) by the average
    policy. Its policy is frozen where it has already acted in this round. A seat that has not yet searched in a round assumes
    that all players followed the blueprint.

    Deviation from the paper: Pluribus freezes its actions only for the hand that it holds. Here they are frozen for every hand,
    so that one search gives the policy for all hands.

    Attributes:
        game, state: see :class:`treeplex.search.agents.agent.Agent`.
        rounds: the search method; its blueprint updates beliefs before the first search.
        average: whether to play the search's average policy instead of the last iteration's.
        search_after: number of betting rounds in which it plays the blueprint before it searches.
        searches: number of searches so far, excluding cached ones.
    """

    draws = False

    def __init__(
        self,
        rounds: Rounds,
        *,
        average: bool = False,
        search_after: int = 0,
        think: float | None = None,
        generator: np.random.Generator | None = None,
        remember: int = 512,
    ) -> None:
        """Create the agent.

        Args:
            rounds, average, search_after: see the attributes.
            think: time limit per search in seconds; None for no limit.
            generator: random generator for its draws.
            remember: number of searches cached for later playthroughs.
        """
        super().__init__(rounds.game, generator)
        self.rounds, self.think, self.average = rounds, think, average
        self.search_after, self.searches = search_after, 0
        self._found: RecentCache[FoundRound] = RecentCache(remember)
        self.begin()

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`."""
        if at is not None and at.game is not self.game:
            raise GameError("this agent supports only its own game; begin at its start")
        self.sit(seat, generator)
        belief = Belief.root(self.game) if at is None else at
        self.state, self.thought = belief.state, None
        self._path: tuple[Hashable, ...] = () if at is None else (at,)
        self._round: list[tuple[State, int]] = []
        self._rounds = 0
        self._views = {player: View(belief) for player in range(self.game.players) if seat in (None, player)}

    def fork(self) -> "RoundSearchAgent":
        """See :meth:`treeplex.search.agents.agent.BaseAgent.fork`."""
        copied = super().fork()
        copied._round = list(self._round)
        copied._views = {seat: replace(view, played=dict(view.played)) for seat, view in self._views.items()}
        return copied

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        following, player = self.game.after(self.state, event), self.game.options(self.state).player
        if player in self._views and self.state not in self._views[player].played:
            self.policy()  # record the policy as played even if it was not requested
        if player == CHANCE:
            self._views = {seat: View(self._moved(view).after(event)) for seat, view in self._views.items()}
            self._round, self._rounds = [], self._rounds + bool(self._round)
        else:
            self._round.append((self.state, event))
        self.state, self._path = following, (*self._path, event)

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        player = self.game.options(self.state).player
        if player not in self._views:
            raise GameError(f"player {player} acts at {self.game.name_of(self.state)}, but this agent plays another seat")
        view = self._views[player]
        if self.state not in view.played and self._rounds < self.search_after:
            view.played[self.state] = self.rounds.blueprint_at(self.state)
        elif self.state not in view.played:
            result = view.found = self._search(player, view)
            self.thought = Thought(result.iterations, result.seconds)
            view.played[self.state] = result.table(self.state, average=self.average)
        return view.played[self.state]

    def _search(self, player: int, view: View) -> FoundRound:
        """Search the round from its start, or return a cached search."""
        key = player, self._path
        if (known := self._found.get(key)) is not None:
            return known.remembered()
        self.searches += 1
        belief = view.belief
        return self._found.keep(key, self.rounds.solve(belief.state, belief.ranges, view.played, self._round, self.think))

    def _moved(self, view: View) -> Belief:
        """Belief at the end of the round, updated by the last search's average policy or the blueprint."""
        belief = view.belief
        for state, label in self._round:
            result = view.found
            searched = result is not None and result.plays(state, label)
            policy = result.table(state, average=True) if result and searched else self.rounds.blueprint_at(state)
            belief = belief.after(label, policy)
        return belief


class RecentCache(OrderedDict[Hashable, ResultT]):
    """A cache of the ``most`` most recently added results."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def keep(self, key: Hashable, made: ResultT) -> ResultT:
        """Add a result, and drop the oldest if the cache is full."""
        self[key] = made
        if len(self) > self.most:
            self.popitem(last=False)
        return made
