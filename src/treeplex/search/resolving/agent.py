"""Continual re-solving agent, with DeepStack, Libratus and Modicum as special cases.

It starts from the dealt ranges, or plays a blueprint first. From then on it solves the current subgame with a gadget, so that
no hand of the opponent gets more than its alternative value. It plays the average policy, and carries its own range and new
alternative values to the next subgame (:mod:`treeplex.search.resolving.carried`).

=========  ==============  =================================  ==================  =============================
agent      before          re-solves                          subgames end        leaves
=========  ==============  =================================  ==================  =============================
DeepStack  nothing         at each own decision               with the round      a value function
Libratus   a blueprint     each round, from a given round on  with the game       none
Modicum    nothing         at the beginning of each round     with the round      continuations of a blueprint
=========  ==============  =================================  ==================  =============================
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError
from treeplex.games.base import Game
from treeplex.games.public import PublicGame, State
from treeplex.search.agents.agent import Thought
from treeplex.search.agents.solving import SubgameAgent
from treeplex.search.leaf import LeafValue, NoLeaf, TimedLeaf
from treeplex.search.methods import METHODS
from treeplex.search.resolving.blueprint import Blueprint, deals_in
from treeplex.search.resolving.carried import ResolvedSubgame, ResolvingState
from treeplex.search.resolving.continuations import BlueprintLeaf
from treeplex.search.resolving.resolved import REACH, UNSAFE
from treeplex.search.resolving.settings import DECISION, ROUND, ResolveSettings
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.subgames.cut import cut
from treeplex.search.subgames.gadgets import GADGETS, Gadget
from treeplex.search.subgames.horizon import TO_THE_END, Horizon
from treeplex.search.subgames.subgame import Endgame

LEAF_SHARE = 0.4
"""Share of the thinking time for computing blueprint continuations below leaves; iterations get the rest."""


class Stand(NamedTuple):
    """A point in the game where a player re-solves.

    Attributes:
        depth: number of labels on the path to it.
        carried: the resolving state at this point.
    """

    depth: int
    carried: ResolvingState


class ResolvingAgent(SubgameAgent[ResolvedSubgame]):
    """Plays any two-player public game, in either seat or both, by re-solving with gadgets.

    Attributes:
        game, state: see :class:`treeplex.search.agents.agent.Agent`.
        settings: re-solving settings.
        horizon: where subgames end. If leaves are after a deal (``dealt``), the subgame of the actual outcome is solved
            directly. If they are before a deal, a subgame that contains all outcomes is solved first, which gives the
            alternative values for each.
        start: number of deals before it first re-solves; it plays the blueprint until then.
        leaves: for each player the leaf values of its subgames.
        blueprint: policy played before re-solving, which also gives the first alternative values; None for none.
        path: labels of the actions and chance outcomes so far.
    """

    def __init__(
        self,
        game: PublicGame | str | Game,
        settings: ResolveSettings,
        leaves: LeafValue | Sequence[LeafValue] | None = None,
        *,
        horizon: Horizon = TO_THE_END,
        blueprint: Blueprint | None = None,
        start: int = 0,
        generator: np.random.Generator | None = None,
        remember: int = 64,
    ) -> None:
        """Create the agent.

        Args:
            game: its public states, a spec or rules.
            settings, horizon, blueprint, start: see the attributes.
            leaves: leaf values for both players, or one per player; None if subgames have no cut.
            generator: random generator, used only for sampling actions.
            remember: number of solved subgames cached for later playthroughs.

        Raises:
            AlgorithmError, PolicyError: incompatible settings, or a blueprint of another game.
        """
        super().__init__(game, generator, remember)
        self.settings, self.horizon, self.blueprint, self.start = settings, horizon, blueprint, start
        self.leaves = tuple(leaves) if isinstance(leaves, Sequence) else (leaves or NoLeaf(),) * 2
        if blueprint is not None:
            blueprint.check(self.game, start, reach=settings.gadget.startswith(REACH))
        elif start:
            raise AlgorithmError(f"start={start} needs a blueprint, which plays until deal {start}; give one, or start=0")
        self._first, self._begun, self.path = self.game, Belief.root(self.game), tuple[int, ...]()
        self._stands: dict[int, Stand] = {}
        self._at: Belief | None = None
        self.begin()

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`; discards actions added in the previous playthrough.

        Raises:
            AlgorithmError: with a blueprint, a start from another state.
        """
        self.sit(seat, generator)
        if at is not None and self.blueprint is not None:
            raise AlgorithmError("an agent with a blueprint cannot begin in the middle of the game; leave out 'at'")
        begun = Belief.root(self._first) if at is None else at
        if at is not self._at:
            self.forget()
        self._at = at
        self._begun, self.game, self.state, self.path, self._stands = begun, begun.game, begun.state, (), {}

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        player = self.game.options(self.state).player
        if self.blueprint is not None and self._plays_blueprint:
            self.decided()
            return self.blueprint.policy(self.game, self.path)
        stand = self._stand(player)
        table = self._resolved(stand).policy_at(self.path[stand.depth :])
        self.decided()
        return table

    @property
    def _plays_blueprint(self) -> bool:
        """Whether it plays the blueprint at the current state."""
        return self.blueprint is not None and len(deals_in(self.game, self.path)) < self.start

    def public_belief_state(self) -> Belief:
        """The current public belief state, with the range it has played and the opponent's range according to its solves.

        Raises:
            GameError: no player is to act.
        """
        self.check_acting()
        if self.blueprint is not None and self._plays_blueprint:
            return self.blueprint.belief(self.game, self.path)
        return self.carried(self.game.options(self.state).player).belief

    def hand_values(self) -> Floats | None:
        """See :meth:`treeplex.search.agents.agent.BaseAgent.hand_values`; computed from the beliefs at the subgame's root."""
        self.check_acting()
        if self._plays_blueprint:
            return None
        player = self.game.options(self.state).player
        stand = self._stand(player)
        solved, ranges = self._resolved(stand), tuple(weights[None] for weights in stand.carried.belief.ranges)
        return solved.subgame.action_values(solved.policy, ranges, self.leaves[player], self.path[stand.depth :])

    def reply_values(self, fewest: int = 1) -> tuple[Floats, Floats] | None:
        """Values of the other player's actions at its decision, if it plays a best response to the agent's solve from then on.

        Args:
            fewest: least number of iterations of the solve.

        Returns:
            The value of each action with each hand, float64 [A, H], in the game's units, NaN for hands without a compatible
            opposing hand; and the other player's policy in the solve, [A, H]. None if the solve has fewer iterations.

        Raises:
            GameError: no player is to act, or the solve does not contain this decision.
        """
        self.check_acting()
        options = self.game.options(self.state)
        stand = self._stand(1 - options.player)
        solved, path = self._resolved(stand), self.path[stand.depth :]
        if solved.effort is not None and solved.effort.iterations < fewest:
            return None
        values = np.stack([solved.responses.at((*path, label)) for label in options.labels])
        return values, solved.policy_at(path)

    def search_effort(self) -> Thought | None:
        """See :meth:`treeplex.search.agents.agent.BaseAgent.search_effort`."""
        if self._plays_blueprint:
            return None
        return self._resolved(self._stand(self.game.options(self.state).player)).effort

    def move(self, event: int, following: State) -> None:
        """See :meth:`SubgameAgent.move`."""
        self.state, self.path = following, (*self.path, event)

    def change_game(self, game: PublicGame) -> None:
        """See :meth:`SubgameAgent.change_game`.

        An agent that re-solves at each decision keeps its carried state, since earlier subgames do not need the new action. An
        agent that re-solves each round solves the current round again from its beginning.
        """
        stands = dict(self._stands)
        if self.settings.every == DECISION:
            stands = {player: self._moved(self._stand(player), len(self.path)) for player in stands}
        here, path = self._begun.state, tuple[int, ...]()
        there = game.first_state() if self._at is None else here
        states = [there]
        for label in self.path:
            renamed = self.game.label_in(here, label, game, there)
            here, there, path = self.game.after(here, label), game.after(there, renamed), (*path, renamed)
            states.append(there)
        self._begun = replace(self._begun, game=game, state=states[0])
        self._stands = {
            player: Stand(stand.depth, stand.carried.in_game(game, states[stand.depth])) for player, stand in stands.items()
        }
        self.game, self.state, self.path = game, there, path

    def _stand(self, player: int) -> Stand:
        """Return the point where a player re-solves for the current decision."""
        stand = self._stands.get(player) or self._opening(player)
        for depth in self._stops(player, stand.depth):
            stand = self._moved(stand, depth)
        self._stands = self._stands | {player: stand}
        return stand

    def carried(self, player: int) -> ResolvingState:
        """Return a player's current resolving state, solving all earlier streets if necessary.

        Raises:
            AlgorithmError: a subgame ends before the current state.
        """
        return self._moved(self._stand(player), len(self.path)).carried

    def go_on(self, carried: ResolvingState) -> None:
        """Continue from a resolving state of another version of the game; its public state becomes the root of this game."""
        stand = Stand(0, carried.in_game(self.game, self.game.first_state()))
        self._stands = self._stands | {carried.player: stand}

    def _opening(self, player: int) -> Stand:
        """Return the point where a player first re-solves in a playthrough."""
        if self.blueprint is None:
            return Stand(0, ResolvingState(player, self._begun))
        start = self.start
        path = self.path[: deals_in(self.game, self.path)[start - 1]] if start else ()
        promised = None
        if self.settings.gadget != UNSAFE:
            reach = self.settings.gadget.startswith(REACH)
            promised = self.blueprint.promised(self.game, path, player, reach=reach)
        return Stand(len(path), ResolvingState(player, self.blueprint.belief(self.game, path), promised))

    def _stops(self, player: int, first: int) -> list[int]:
        """Depths on the current path at which subgames begin, after the one that begins at depth ``first``."""
        if self.settings.every == ROUND:
            return [depth for depth in deals_in(self.game, self.path, self._begun.state) if depth > first]
        depths, state = [], self._begun.state
        for depth, label in enumerate((*self.path, None)):
            if depth > first and self.game.options(state).player == player:
                depths.append(depth)
            if label is not None:
                state = self.game.after(state, label)
        return depths

    def _moved(self, stand: Stand, depth: int) -> Stand:
        """Carry the resolving state to a later point of the path, solving further subgames on the way if needed."""
        while stand.depth < depth:
            solved, way = self._resolved(stand, share=0.5), self.path[stand.depth : depth]
            ends = [k for k in range(1, len(way)) if solved.kind(way[:k]) == "leaf"]
            if ends and not self._carries_over(stand, way, ends[0]):
                way = way[: ends[0]]
            stand = Stand(stand.depth + len(way), stand.carried.after(solved, way))
        return stand

    def _carries_over(self, stand: Stand, way: tuple[int, ...], end: int) -> bool:
        """Whether the resolving state carries over, since only the opponent acts on the path after the subgame's end."""
        state, other = stand.carried.belief.state, 1 - stand.carried.player
        for depth, label in enumerate(way):
            if depth >= end and self.game.options(state).player != other:
                return False
            state = self.game.after(state, label)
        return self.settings.gadget != UNSAFE

    def _resolved(self, stand: Stand, share: float = 1.0) -> ResolvedSubgame:
        """Solve the subgame that begins where a player re-solves, or return it from the cache; see :meth:`recall`."""
        key = self.game.key, self.path[: stand.depth], stand.carried.player
        return self.recall(key, lambda: self.solve(stand.carried), share=share)

    def solve(self, carried: ResolvingState) -> ResolvedSubgame:
        """Re-solve a subgame."""
        settings, player = self.settings, carried.player
        belief, gadget = carried.belief, None
        if carried.promised is not None and settings.gadget != UNSAFE:
            kind: Callable[[int, Floats], Gadget] = GADGETS[settings.gadget.removeprefix(REACH)]
            possible = list(self.game.possible(belief.state))
            known = possible[1 - player] * ~np.isnan(carried.promised)
            ranges = [known if i != player else weights for i, weights in enumerate(belief.ranges)]
            belief = Belief.of(self.game, belief.state, ranges)
            gadget = kind(player, np.nan_to_num(carried.promised)[None])
        subgame = cut(self.game, [belief], self.horizon, gadget=gadget).on_threads(settings.threads)
        method, horizon, leaf = METHODS[settings.method], settings.iterations, self.leaves[player]
        if isinstance(leaf, BlueprintLeaf) and len(subgame.leaves):
            self._spent = self._spent._replace(boards=leaf.prepare(subgame.leaves, LEAF_SHARE * self.time_left))
        if isinstance(leaf, TimedLeaf):
            leaf.limit(self.time_left)
        endgame = None if settings.skip else subgame.endgame(method, horizon)
        search: SubgameSearch | Endgame
        if endgame is not None:
            search = endgame
            self.run(search, horizon)
        else:
            search = SubgameSearch(subgame, method, leaf, horizon=horizon, keep_leaf_values=len(subgame.leaves) > 0)
            forget = search.forget_average

            def warm_up(done: int) -> None:
                if done and done == settings.skip:
                    forget()

            single = settings.skip > 0 or isinstance(leaf, TimedLeaf)  # such a leaf makes some iterations much longer
            self.run(search, horizon, warm_up if single else None)
        self.searches += 1
        return ResolvedSubgame.of(search, player)
