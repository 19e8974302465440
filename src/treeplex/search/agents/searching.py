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


class AgentSearchSettings(Protocol):
    """Search settings of an agent, as in :class:`treeplex.search.settings.PlaythroughSettings`."""

    @property
    def method(self) -> str: ...
    @property
    def iterations(self) -> int: ...
    @property
    def horizon(self) -> Horizon: ...
    @property
    def warm(self) -> int | None: ...


@dataclass(frozen=True, eq=False, repr=False)
class SubgameSolution(SolvedSubgame):
    """A solved subgame.

    Attributes:
        subgame: the subgame.
        ranges: float64 [1, H_i] for each player, the starting ranges.
        policies: [T, Q], the policy of each iteration (for fictitious play, the average so far). For an endgame, or if no
            iteration is drawn, a single row with the average policy.
        believed: [T, Q], the policies used to update ranges; usually the same array.
        worth: action values under the average policy; None if not computed.
    """

    subgame: Subgame
    ranges: Ranges
    policies: NDArray[Any]
    believed: NDArray[Any]
    worth: ActionWorth | None = None


class SearchAgent(SubgameAgent[SubgameSolution]):
    """Plays one or all seats of any public game by depth-limited search with leaf values.

    At the start of the game, and wherever a subgame ends, the agent holds a public belief state. To act, it solves the subgame
    that begins there and draws an iteration with the weights of the average policy. It plays that iteration's policy to the end
    of the subgame, and updates all players' beliefs with the same policy. In expectation this is the equilibrium strategy to
    which the search converges (theorem 3): an opponent does not know which iteration was drawn, so it cannot exploit the agent
    by more than the search's error. A single iteration's policy can look odd, because early iterations are far from an
    equilibrium. With ``drawn=False`` the agent always plays the search's average policy, which looks more natural but has no
    such guarantee.

    Attributes:
        game, state: see :class:`treeplex.search.agents.agent.Agent`; the game may be an
            :class:`treeplex.search.action_subset.ActionAbstraction`.
        leaf: values at the leaves of subgames.
        settings: method, iterations and horizon of searches.
        endgame: iterations of Discounted CFR for subgames that reach the end of the game, whose average policy is then played;
            None to search them like all others.
        street_by_street: whether a subgame that would begin with a deal is searched only after the deal. The policy of an
            iteration is then the one before its update, which is the one that enters the average (uniform in the first
            iteration), and in CFR-AVG beliefs are updated by the average so far (section 5.2). This agent is evaluated by
            :meth:`treeplex.holdem.search.play_distribution.Player.curve`. Otherwise an iteration's policy is the one after its
            update, which also updates beliefs. That agent is evaluated by
            :func:`treeplex.search.play_distribution.playthrough_policy`.
        drawn: whether to play a random iteration; otherwise the average policy is played.
        prepare: called with each subgame before its search; may raise an exception to prevent the search.
        belief: the public belief state at the root of the current subgame; for the current state see
            :meth:`public_belief_state`.
        searches: number of searches so far, excluding cached searches and endgames.
    """

    def __init__(
        self,
        game: PublicGame | str | Game,
        leaf: LeafValue,
        settings: AgentSearchSettings | None = None,
        generator: np.random.Generator | None = None,
        *,
        remember: int = 16,
        endgame: int | None = None,
        street_by_street: bool = False,
        drawn: bool = True,
    ) -> None:
        """Create the agent.

        Args:
            game: its public states, a spec or rules.
            leaf, endgame, street_by_street, drawn: see the attributes.
            settings: method, iterations and horizon; None for those stored with the leaf's network.
            generator: random generator for drawing iterations and actions.
            remember: number of solved subgames cached across playthroughs; those at the start of the game are kept longest.
        """
        super().__init__(game, generator, remember)
        settings = getattr(leaf, "searching", None) if settings is None else settings
        if settings is None:
            raise AlgorithmError(f"{leaf_name(leaf)} has no search settings; give settings=")
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
        self._drawn: tuple[SubgameSolution, int] | None = None
        self.draws = drawn and settings.iterations > 1
        self.begin()

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`; discards actions added in the previous playthrough."""
        self.sit(seat, generator)
        self._open(self._first if at is None else at)

    def fork(self) -> "SearchAgent":
        """See :meth:`treeplex.search.agents.agent.BaseAgent.fork`; at a decision, both copies share one solve of the
        subgame.
        """
        if self.game.options(self.state).player >= 0:
            self._search()
        return super().fork()

    @property
    def kept(self) -> int:
        """Number of policies stored per search."""
        return self.settings.iterations if self.drawn else 1

    def memory_for(self, subgame: Subgame) -> int:
        """Memory for the policies of a subgame's search, in bytes."""
        copies = 2 if self._believes_averages else 1
        return copies * self.kept * subgame.size * np.dtype(subgame.storage).itemsize

    @property
    def _believes_averages(self) -> bool:
        """Whether beliefs are updated by a different policy from the one played."""
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
        """See :meth:`treeplex.search.BaseAgent.hand_values`; under the policy played, or in hold'em under the average
        policy.
        """
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

        All players are assumed to follow the average policy of the street's search or solution throughout the street; leaf
        values apply beyond the cut. Values are relative to half the pot at the start of the game, or of the street if it is a
        separate game, and NaN for hands without a compatible opposing hand.

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
        solved, stop = self._search(share=0.5)
        self.state, self._inside = following, (*self._inside, event)
        if solved.subgame.find(0, self._inside)[0] == "leaf":
            ranges = solved.subgame.ranges_after(solved.believed[stop], self._inside, solved.ranges)
            self.belief = Belief.of(self.game, following, ranges)
            self._path, self._inside, self._drawn = self._path + self._inside, (), None

    def change_game(self, game: PublicGame) -> None:
        """See :meth:`SubgameAgent.change_game`.

        The subgame is rebuilt and solved again. The larger game may put a cut between the subgame's root and the current state,
        so the path to the current state is replayed.
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
            self._stops, self._begun = (), (belief.state, *(weights.tobytes() for weights in belief.ranges))

    def _search(self, share: float = 1.0) -> tuple[SubgameSolution, int]:
        """Return the solved current subgame and the index of the policy played; for ``share`` see :meth:`recall`."""
        if self._drawn is None:
            key = self.game.key, self._path, (self._begun, self._stops)
            solved = self.recall(key, self._solved, self._is_search, share=share)
            stop, count = 0, len(solved.policies)
            if count > 1:
                drawn = self.generator.random() * (1.0 if count == self.kept else self._cumulative[count - 1])
                stop = min(int(np.searchsorted(self._cumulative, drawn, side="right")), count - 1)
            self._stops += (stop,)
            self._drawn = solved, stop
        return self._drawn

    def _is_search(self, solved: SubgameSolution) -> bool:
        """Whether a subgame was searched with a depth limit rather than solved to the end of the game."""
        return self.endgame is None or len(solved.subgame.leaves) > 0

    def _solved(self) -> SubgameSolution:
        """Solve the subgame at the current belief."""
        subgame = cut(self.game, [self.belief], self.settings.horizon)
        if self.endgame is not None and not len(subgame.leaves):
            return self._solved_to_the_end(subgame, self.endgame)
        self.prepare(subgame)
        return self._searched(subgame)

    def _searched(self, subgame: Subgame) -> SubgameSolution:
        """Search a subgame and store the policy of every iteration."""
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
        return SubgameSolution(
            subgame, tuple(weights[None] for weights in self.belief.ranges), policies, believed, subgame.action_worth(search)
        )

    def _solved_to_the_end(self, subgame: Subgame, iterations: int) -> SubgameSolution:
        """Solve a subgame without a cut by Discounted CFR, storing the average policy."""
        method = METHODS["dcfr"]
        search: Endgame = subgame.endgame(method, iterations, as_cut=True) or SubgameSearch(
            subgame, method, NoLeaf(), horizon=iterations
        )
        self.run(search, iterations)
        policies = search.average_policy()[None]
        return SubgameSolution(subgame, search.ranges, policies, policies, subgame.action_worth(search))
