"""An agent that plays a random iteration of its search (Brown et al. 2020, section 6)."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError, GameError
from treeplex.games.base import CHANCE, TERMINAL, Game
from treeplex.games.public import PublicGame, State
from treeplex.search.agents.agent import Thought
from treeplex.search.agents.solving import SolvedSubgame, SubgameAgent
from treeplex.search.leaf import LeafValue, NoLeaf, leaf_name
from treeplex.search.methods import METHODS, average_weights
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.subgames.cut import cut
from treeplex.search.subgames.horizon import Horizon
from treeplex.search.subgames.subgame import ActionWorth, Endgame, Ranges, Subgame
from treeplex.search.warm_start.begin import begin_search
from treeplex.solvers.rules.fictitious import FictitiousRule


class Searching(Protocol):
    """Search settings, as in :class:`treeplex.search.settings.PlaythroughSettings`."""

    @property
    def method(self) -> str: ...
    @property
    def iterations(self) -> int: ...
    @property
    def horizon(self) -> Horizon: ...
    @property
    def warm(self) -> int | None: ...


@dataclass(frozen=True, eq=False, repr=False)
class Solved(SolvedSubgame):
    """A solved subgame.

    Attributes:
        subgame: the subgame.
        ranges: for each player float64 [1, H_i], the starting ranges.
        policies: [T, Q], the candidate policies: that of each iteration (for fictitious play, the average up to it); a single
            row, the average policy, for an endgame and where no iteration is drawn.
        believed: [T, Q], the policies that update ranges; usually the same array.
        worth: action values under the average policy; None if unknown.
    """

    subgame: Subgame
    ranges: Ranges
    policies: NDArray[Any]
    believed: NDArray[Any]
    worth: ActionWorth | None = None


class SearchAgent(SubgameAgent[Solved]):
    """Plays any public game, in one or all seats, from leaf values.

    At the start, and wherever a subgame ends, the agent is at a public belief state. When it needs a policy, it solves the
    subgame there, draws an iteration with the weights of the average policy, and plays that iteration's policy to the
    subgame's end; the same policy updates all players' beliefs. In expectation this is the equilibrium strategy that the
    search converges to, which no single iteration and no average of one search is (theorem 3): no opponent can exploit it by
    more than the search's error, since an opponent who knows the method does not know which iteration was drawn. A single
    iteration's policy can look odd, because early iterations are far from an equilibrium. With ``drawn=False`` the search's
    average policy is played in every game, which looks as expected but has no such guarantee.

    Attributes:
        game, state: see :class:`treeplex.search.agents.agent.Agent`; the game may be an
            :class:`treeplex.search.action_subset.ActionAbstraction`.
        leaf: values at the leaves of subgames.
        settings: method, iterations and horizon of searches.
        endgame: iterations of Discounted CFR for subgames without a cut, whose average policy is then played; None to search
            them like all others.
        street_by_street: whether it waits for the cards where a subgame would begin with a deal, and searches after them. The
            policy of an iteration is then the one that the average counts for it, uniform in the first, and in CFR-AVG beliefs
            are updated by the average up to it (section 5.2), as :meth:`treeplex.holdem.search.play_distribution.Player.curve`
            judges. Otherwise it is the policy after the iteration's update, which also updates beliefs, as
            :func:`treeplex.search.play_distribution.playthrough_policy` judges.
        drawn: whether an iteration is drawn; else the average policy is played.
        prepare: called with each subgame before its search; may raise to refuse it.
        belief: the start of the current subgame; :meth:`public_belief_state` is the current state.
        searches: number of searches so far, without cached ones and endgames.
    """

    def __init__(
        self,
        game: PublicGame | str | Game,
        leaf: LeafValue,
        settings: Searching | None = None,
        generator: np.random.Generator | None = None,
        *,
        remember: int = 16,
        endgame: int | None = None,
        street_by_street: bool = False,
        drawn: bool = True,
    ) -> None:
        """Start a play.

        Args:
            game: its public states, a spec or rules.
            leaf, endgame, street_by_street, drawn: see the attributes.
            settings: method, iterations and horizon; None for those of the leaf's network.
            generator: random generator of iterations and actions.
            remember: number of solved subgames kept for later plays, those at the start of a play longest.
        """
        super().__init__(game, generator, remember)
        settings = getattr(leaf, "searching", None) if settings is None else settings
        if settings is None:
            raise AlgorithmError(f"{leaf_name(leaf)} has no search settings; give settings")
        self.leaf, self.settings = leaf, settings
        self.endgame, self.street_by_street, self.drawn = endgame, street_by_street, drawn
        self.prepare: Callable[[Subgame], None] = lambda subgame: None
        weights = average_weights(settings.method, settings.iterations)
        self._cumulative = np.cumsum(weights) / weights.sum()
        self._first = self.belief = Belief.root(self.game)
        self._path: tuple[int, ...] = ()
        self._stops: tuple[int, ...] = ()
        self._begun: tuple[Hashable, ...] = ()
        self._inside: tuple[int, ...] = ()
        self._drawn: tuple[Solved, int] | None = None
        self.draws = drawn and settings.iterations > 1
        self.begin()

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`; discards actions added in the last play."""
        self.sit(seat, generator)
        self._open(self._first if at is None else at)

    def fork(self) -> "SearchAgent":
        """See :meth:`treeplex.search.agents.agent.BaseAgent.fork`; at a decision, the subgame is solved once for both."""
        if self.game.options(self.state).player >= 0:
            self._search()
        return super().fork()

    @property
    def kept(self) -> int:
        """Number of policies of a search that are kept."""
        return self.settings.iterations if self.drawn else 1

    def memory_for(self, subgame: Subgame) -> int:
        """Memory of the policies of a subgame's search, in bytes."""
        copies = 2 if self._believes_averages else 1
        return copies * self.kept * subgame.size * np.dtype(subgame.storage).itemsize

    @property
    def _believes_averages(self) -> bool:
        """Whether beliefs are updated by another policy than the one played."""
        method = METHODS[self.settings.method]
        return (
            self.drawn
            and self.street_by_street
            and method.leaves != "current"
            and not isinstance(method.scheme, FictitiousRule)
        )

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        solved, stop = self._search()
        self.decided()
        return solved.subgame.policy_at(solved.subgame.find(0, self._inside)[1], solved.policies[stop])

    def public_belief_state(self) -> Belief:
        """The current public belief state, updated by the policies of its searches."""
        belief = self.belief
        for depth, label in enumerate(self._inside):
            policy = None
            if belief.game.options(belief.state).player >= 0:
                solved, stop = self._search()
                policy = solved.subgame.policy_at(solved.subgame.find(0, self._inside[:depth])[1], solved.believed[stop])
            belief = belief.after(label, policy)
        return belief

    def hand_values(self) -> Floats | None:
        """See :meth:`treeplex.search.BaseAgent.hand_values`; under the policy played, in hold'em under the average."""
        self.check_acting()
        solved, stop = self._search()
        if solved.worth is not None:
            return solved.worth.of_hands(self.state)
        return solved.subgame.action_values(solved.policies[stop], solved.ranges, self.leaf, self._inside)

    def search_effort(self) -> Thought | None:
        """See :meth:`treeplex.search.agents.agent.BaseAgent.search_effort`."""
        return None if self._drawn is None else self._drawn[0].effort

    def action_values(self, hand: int) -> Floats:
        """Value of each action for a hand of the player to act, float64 [A], in chips; hold'em only.

        All players follow the average policies of the street's search or solution, before and after; beyond the cut, leaf
        values apply. Values are relative to half of the pot at the start of the game, or of the street if that is a separate
        game; NaN without a compatible opposing hand.

        Raises:
            GameError: no player is to act, or the hand is impossible here.
            AlgorithmError: the subgame is not a hold'em street that begins with a decision.
        """
        self.check_acting()
        can = self.game.possible(self.state)[self.game.options(self.state).player]
        if not 0 <= hand < len(can) or not can[hand]:
            raise GameError(f"hand {hand} is impossible at {self.game.name_of(self.state)}")
        worth = self._search()[0].worth
        if worth is None:
            raise AlgorithmError("action values need a hold'em street searched from its first decision")
        return worth.of_hands(self.state)[:, hand]

    def move(self, event: int, following: State) -> None:
        """See :meth:`SubgameAgent.move`."""
        options = self.game.options(self.state)
        if self.game.options(following).player == TERMINAL:
            self.state, self._inside = following, (*self._inside, event)
            return
        if options.player == CHANCE and self.street_by_street and not self._inside:
            belief = self.belief.after(event)
            rest = self.game.rest(belief.state, belief.ranges)
            self._open(belief if rest is None else Belief.root(rest))
            return
        solved, stop = self._search()
        self.state, self._inside = following, (*self._inside, event)
        if solved.subgame.find(0, self._inside)[0] == "leaf":
            ranges = solved.subgame.ranges_after(solved.believed[stop], self._inside, solved.ranges)
            self.belief = Belief.of(self.game, following, ranges)
            self._path, self._inside, self._drawn = self._path + self._inside, (), None

    def change_game(self, game: PublicGame) -> None:
        """See :meth:`SubgameAgent.change_game`.

        The subgame is cut and solved again. Since more of the game remains then, the cut may move between the subgame's root
        and the current state, so the path to here is followed again.
        """
        way, path, other, there = self._inside, self._path, self.game, self.belief.state
        self._open(replace(self.belief, game=game, state=other.state_in(there, game)), path)
        for step in way:
            self.see(other.label_in(there, step, self.game, self.state))
            there = other.after(there, step)

    def _open(self, belief: Belief, path: tuple[int, ...] = ()) -> None:
        """Start a subgame."""
        self.game, self.belief, self.state = belief.game, belief, belief.state
        self._path, self._inside, self._drawn = path, (), None
        if not path:
            self._stops, self._begun = (), (belief.state, *(own.tobytes() for own in belief.ranges))

    def _search(self) -> tuple[Solved, int]:
        """The current subgame, solved, and the index of the policy played."""
        if self._drawn is None:
            solved = self.recall((self.game.key, self._path, (self._begun, self._stops)), self._solved, self._is_search)
            stop, count = 0, len(solved.policies)
            if count > 1:
                drawn = self.generator.random() * (1.0 if count == self.kept else self._cumulative[count - 1])
                stop = min(int(np.searchsorted(self._cumulative, drawn, side="right")), count - 1)
            self._stops += (stop,)
            self._drawn = solved, stop
        return self._drawn

    def _is_search(self, solved: Solved) -> bool:
        """Whether a subgame was searched to a cut instead of solved to the end."""
        return self.endgame is None or len(solved.subgame.leaves) > 0

    def _solved(self) -> Solved:
        """Solve the subgame at the current belief."""
        subgame = cut(self.game, [self.belief], self.settings.horizon)
        if self.endgame is not None and not len(subgame.leaves):
            return self._solved_to_the_end(subgame, self.endgame)
        self.prepare(subgame)
        return self._searched(subgame)

    def _searched(self, subgame: Subgame) -> Solved:
        """Search a subgame, and keep the policies of all iterations."""
        settings, method = self.settings, METHODS[self.settings.method]
        playing = isinstance(method.scheme, FictitiousRule)
        policies = np.empty((self.kept, subgame.size), subgame.storage)
        believed = np.empty_like(policies) if self._believes_averages else policies
        search = begin_search(subgame, method, self.leaf, None, settings.iterations, settings.warm)
        done = search.iteration
        if not self.drawn:
            done = self.run(search, settings.iterations)
            policies[0] = search.average_policy()
        else:
            policies[:done] = search.policy
        for t in range(done, settings.iterations if self.drawn else 0):
            if self.street_by_street and not playing:
                policies[t] = search.policy
            done = self.run(search, t + 1)
            if playing:
                policies[t] = search.average_policy()
            elif not self.street_by_street:
                policies[t] = search.policy
            if believed is not policies:
                believed[t] = search.average_policy()
            if self.time_left <= 0:
                break
        if self.drawn:
            policies, believed = policies[:done], believed[:done]
        self.searches += 1
        return Solved(subgame, tuple(own[None] for own in self.belief.ranges), policies, believed, subgame.action_worth(search))

    def _solved_to_the_end(self, subgame: Subgame, iterations: int) -> Solved:
        """The average policy of a subgame without a cut, by Discounted CFR."""
        method = METHODS["dcfr"]
        search: Endgame = subgame.endgame(method, iterations, as_cut=True) or SubgameSearch(
            subgame, method, NoLeaf(), horizon=iterations
        )
        self.run(search, iterations)
        policies = search.average_policy()[None]
        return Solved(subgame, search.ranges, policies, policies, subgame.action_worth(search))
