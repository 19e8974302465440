"""An agent that searches while it plays (Brown et al. 2020, section 6): a random iteration's policy, and beliefs to match."""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeplex.engine.tree.sweeps import reach
from treeplex.errors import GameError
from treeplex.forms.subgames.batch import Subgames, cut
from treeplex.games.public import Decision, Leaf, PublicTree
from treeplex.search.action_subset import ActionSubset
from treeplex.search.beliefs import PublicBelief
from treeplex.search.leaf import LeafValue
from treeplex.search.play_distribution import PlaythroughSettings, average_weights
from treeplex.search.subgame import METHODS, place, reach_at
from treeplex.search.warm_start import begin_search
from treeplex.solvers.rules.fictitious import FictitiousRule

Floats = NDArray[np.float64]
Key = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True, eq=False)
class Searched:
    """A subgame that was solved.

    Attributes:
        subgames: a batch of one.
        ranges: with which it began, for each player float64 [1, H_i].
        policies: float64 [T, Q], what could have been played: the policy after each iteration (of fictitious play the average).
    """

    subgames: Subgames
    ranges: tuple[Floats, Floats]
    policies: Floats


class SearchAgent:
    """Plays any public-tree game, either seat or both, from values at leaves.

    At the start, and wherever a subgame ends, it is at a public belief state. When it needs a policy there, it solves the
    subgame that begins there, draws an iteration with the weights of the average policy, and plays that iteration's policy to
    the subgame's end; both players' beliefs move on by the same policy. In expectation that is the equilibrium strategy that
    the search converges to, which no single iteration and no average of one search is (theorem 3).

    A game is told by :meth:`observe`, action by action, one's own as well; :meth:`probabilities` and :meth:`act` say what to
    do.

    Attributes:
        rules: the public-tree rules; a :class:`treeplex.search.action_subset.ActionSubset` may leave out actions.
        leaf: values at the leaves of subgames.
        settings: method, iterations and horizon of searches.
        node: the public node reached.
        belief: where the current subgame begins.
        searches: subgames solved so far, those remembered not counted.
    """

    def __init__(
        self,
        rules: PublicTree,
        leaf: LeafValue,
        settings: PlaythroughSettings,
        generator: np.random.Generator,
        *,
        remember: int = 16,
    ) -> None:
        """Begin a game.

        Args:
            rules, leaf, settings: see the attributes.
            generator: draws iterations and actions.
            remember: solved subgames that are kept for later games, the root's among them.
        """
        self.rules, self.leaf, self.settings, self.generator = rules, leaf, settings, generator
        self.remember, self.searches = remember, 0
        weights = average_weights(settings.method, settings.iterations)
        self._cumulative = np.cumsum(weights) / weights.sum()
        self._known: OrderedDict[Key, Searched] = OrderedDict()
        self._first_rules = rules
        self.begin()

    def begin(self) -> None:
        """A new game; actions added in the last one are forgotten."""
        self.rules = self._first_rules
        self.node: Hashable = self.rules.root
        self.belief = PublicBelief.root(self.rules)
        self._path: tuple[int, ...] = ()
        self._inside: tuple[int, ...] = ()
        self._stops: tuple[int, ...] = ()
        self._current: Searched | None = None
        self._policy: Floats | None = None

    def probabilities(self, hand: int) -> dict[int, float]:
        """How the player to act plays a hand here.

        Raises:
            GameError: nobody is to act, or the hand cannot be there.
        """
        visited = self.rules.visit(self.node)
        if not isinstance(visited, Decision):
            raise GameError(f"nobody is to act at {self.node!r}")
        searched, policy = self._search()
        kind, number = searched.subgames.find(0, self._inside)
        infosets = searched.subgames.infosets[number] if kind == "decision" else np.full(hand + 1, -1)
        if not 0 <= hand < len(infosets) or infosets[hand] < 0:
            raise GameError(f"hand {hand} cannot be there at {self.node!r}")
        first, stride, count = searched.subgames.tree.infoset_layout[infosets[hand]]
        row = policy[first : first + stride * count : stride]
        return {int(action): float(p) for action, p in zip(visited.actions, row, strict=True)}

    def act(self, hand: int) -> int:
        """An action drawn from :meth:`probabilities`; tell it to :meth:`observe`."""
        options = self.probabilities(hand)
        row = np.array(list(options.values()))
        return list(options)[int(min(np.searchsorted(np.cumsum(row), self.generator.random() * row.sum()), len(row) - 1))]

    def observe(self, label: int) -> None:
        """An action was played, or chance showed something; of a private action, any of them.

        An action that the rules here leave out is added, the subgame is cut anew with it and solved again.

        Raises:
            GameError: there is no such action.
        """
        visited = self.rules.visit(self.node)
        if isinstance(visited, Leaf):
            raise GameError(f"the game is over at {self.node!r}")
        if isinstance(visited, Decision):
            if visited.private:
                label = visited.actions[0]
            elif label not in visited.actions:
                self._add(label)
        elif label not in [outcome for outcome, _ in visited.outcomes]:
            raise GameError(f"chance cannot show {label!r} at {self.node!r}")
        following = self.rules.child(self.node, label)
        if isinstance(self.rules.visit(following), Leaf):
            self.node, self._inside = following, (*self._inside, label)
            return
        searched, policy = self._search()
        self.node, self._inside = following, (*self._inside, label)
        kind, number = searched.subgames.find(0, self._inside)
        if kind == "leaf":
            self._cross(searched, policy, number)

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return isinstance(self.rules.visit(self.node), Leaf)

    def _add(self, label: int) -> None:
        """Consider one more action here: other rules for the rest of this game, and another search of this subgame.

        With it more is left of the game, so that what was not cut off may be cut off now, between the subgame's root and here;
        hence the way here is gone again.
        """
        if not isinstance(self.rules, ActionSubset):
            raise GameError(f"no action {label!r} at {self.node!r}")
        self.rules = self.rules.with_action(self.node, label)
        self._current = self._policy = None
        way, self.node, self._inside = self._inside, self.belief.state.node, ()
        for each in way:
            self.observe(each)

    def _cross(self, searched: Searched, policy: Floats, leaf: int) -> None:
        """Leave a subgame at one of its leaves, with the beliefs that its policy leads to."""
        subgames = searched.subgames
        strategy = np.zeros_like(policy)
        for player in (0, 1):
            place(subgames.roots.sequences[player], searched.ranges[player], strategy)
            reach(subgames.tree, player, policy, strategy)
        arrived = reach_at(subgames.leaves, strategy)
        state = subgames.leaves.states[leaf]
        ranges = [own[leaf, :size] for own, size in zip(arrived, state.weight.shape, strict=True)]
        self.belief = PublicBelief.of(type(state)(self.node, state.weight), ranges)
        self._path, self._inside = self._path + self._inside, ()
        self._current = self._policy = None

    def _search(self) -> tuple[Searched, Floats]:
        """The current subgame, solved, and the policy that is played in it."""
        if self._current is None or self._policy is None:
            searched = self._current = self._solved()
            stop = int(np.searchsorted(self._cumulative, self.generator.random(), side="right"))
            stop = min(stop, self.settings.iterations - 1)
            self._stops += (stop,)
            self._policy = searched.policies[stop]
        return self._current, self._policy

    def _solved(self) -> Searched:
        """Solve the subgame that begins at the belief, or remember it: equal draws on equal paths lead to equal beliefs."""
        key = self._path, self._stops
        if self.rules is self._first_rules and key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        subgames = cut(self.rules, [self.belief.state], self.settings.horizon)
        ranges = self.belief.ranges[0][None], self.belief.ranges[1][None]
        method, iterations = METHODS[self.settings.method], self.settings.iterations
        search = begin_search(subgames, method, self.leaf, ranges, iterations, self.settings.warm)
        policies = np.empty((iterations, len(search.policy)))
        policies[: search.iteration] = search.policy
        for t in range(search.iteration, iterations):
            search.run(1)
            policies[t] = search.average_policy() if isinstance(method.scheme, FictitiousRule) else search.policy
        self.searches += 1
        found = Searched(subgames, search.ranges, policies)
        if self.rules is self._first_rules and self.remember:
            self._known[key] = found
            while len(self._known) > self.remember:
                oldest = next((each for each in self._known if each != ((), ())), next(iter(self._known)))
                del self._known[oldest]
        return found
