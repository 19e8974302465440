"""An agent for turns of hold'em that searches while it plays (Brown et al. 2020, section 6).

On the turn it searches the betting round, draws an iteration and plays that iteration's policy to the end of the round; both
ranges move by the same policy, in CFR-AVG by the average up to that iteration (section 5.2). The river is the rest of the
game: it is solved to the end for those ranges, and the average policy of the solution is played. Over all draws that is the
policy ``played`` of ``search.holdem.play_distribution.Player.curve``, which no opponent can exploit by more than the search's
error: whoever knows the method does not know which iteration was drawn. A single iteration's policy can look odd, though, for
early ones are far from an equilibrium. With ``drawn=False`` the average policy of the search is played in every game, which
looks as expected and has no such guarantee.
"""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import AlgorithmError, GameError
from treeplex.evaluate.holdem.node_values import HoldemValues, ratio
from treeplex.forms.holdem.compile_spot import CompiledSpot, compile_spot
from treeplex.forms.holdem.split_turn import SplitTurn, split_turn
from treeplex.games.poker.betting.sizes import BetPlan, Size
from treeplex.games.poker.betting.tree import Action, Decision, Node, StreetEnd
from treeplex.games.poker.cards.cards import cards_to_string
from treeplex.games.poker.spots.spot import Spot
from treeplex.search.beliefs import pick
from treeplex.search.holdem.beliefs import HoldemBelief, HoldemRules
from treeplex.search.holdem.leaf import HoldemLeaf
from treeplex.search.holdem.subgame import HoldemSearch, policy_table
from treeplex.search.leaf import with_trace
from treeplex.search.play_distribution import average_weights
from treeplex.search.subgame import METHODS
from treeplex.solvers.holdem.solver import HoldemSolver
from treeplex.solvers.rules.fictitious import FictitiousRule

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Leaves = Callable[[SplitTurn], HoldemLeaf]
"""From a compiled turn to values where its betting ends."""


@dataclass(frozen=True, eq=False)
class Solved:
    """A betting round that was searched or solved.

    Attributes:
        game: what its policies are stored for; the round is the first street.
        policies: float32 [T, Q], what could be played: the policy in each iteration of a search (of fictitious play the average
            up to it); one row, the average policy, for a river and where no iteration is drawn.
        values: what hands are worth by the average policies of search or solution.
        believed: float32 [T, Q], what ranges move by where that is another: in CFR-AVG the average up to each iteration.
    """

    game: CompiledSpot
    policies: Singles
    values: HoldemValues
    believed: Singles | None = None


class HoldemAgent:
    """Plays the turn and the river of hold'em, either seat or both, from values where the turn's betting ends.

    A game is told by :meth:`observe`, action by action, one's own as well, and :meth:`deal`; :meth:`probabilities` and
    :meth:`act` say what to do.

    Attributes:
        spot: the turn that the next game begins with.
        leaf: values where a turn's betting ends.
        generator: draws iterations and actions.
        method, iterations: of a turn's search, a name of :data:`treeplex.search.METHODS` and how many.
        river: iterations of Discounted CFR in a river's solution.
        remember: solved turns that are kept for later games.
        drawn: whether a game plays one iteration of the turn's search, drawn at random, and not the average.
        belief: where the game stands; on the river a spot of its own, whose betting tree begins there.
        searches: turns searched so far, those remembered not counted.
    """

    belief: HoldemBelief

    def __init__(
        self,
        spot: Spot,
        leaf: Leaves,
        generator: np.random.Generator,
        *,
        method: str = "lcfr",
        iterations: int = 128,
        river: int = 64,
        remember: int = 4,
        drawn: bool = True,
    ) -> None:
        """Begin a game; ``drawn`` says whether each game plays one iteration of the search, drawn at random, or the average.

        Raises:
            AlgorithmError: the spot has rake, blinds, or donk sizes on the river, which a river by itself does not know.
            GameError: the spot is no turn, or its ranges leave no pair of hands.
        """
        self.leaf, self.generator, self.drawn = leaf, generator, drawn
        self.method, self.iterations, self.river, self.remember = METHODS[method], iterations, river, remember
        weights = average_weights(method, iterations if drawn else 1)
        self._cumulative = np.cumsum(weights) / weights.sum()
        self._known: OrderedDict[str, Solved] = OrderedDict()
        self.searches = 0
        self.begin(spot)

    def begin(self, spot: Spot | None = None) -> None:
        """A new game, on another spot if one is given; sizes added in the last one are forgotten.

        Raises:
            AlgorithmError, GameError: as for the first one.
        """
        if spot is not None:
            check_spot(spot)
            self.spot = spot
        self._open(HoldemBelief.root(HoldemRules.of(self.spot)))

    @property
    def event(self) -> Node:
        """What happens here."""
        return self.belief.event

    @property
    def on_river(self) -> bool:
        """Whether the river is played."""
        return len(self.belief.board) == sum(self.spot.format.deal)

    def probabilities(self, hand: int) -> Floats:
        """How the player to act plays a hand, a row of ``format.hands``: float64 [A].

        Raises:
            GameError: nobody is to act, or the hand cannot be held here.
        """
        event, rules = self.event, self.belief.rules
        if not isinstance(event, Decision):
            raise GameError(f"nobody is to act at node {self.belief.node} of the betting")
        if not 0 <= hand < len(rules.spot.format.hands) or not rules.possible(self.belief.board)[event.player][hand]:
            raise GameError(f"hand {hand} cannot be held on {cards_to_string(self.belief.board)}")
        solved, stop = self._searched()
        row: Floats = policy_table(solved.game, self.belief.node, solved.policies[stop])[:, hand]
        return row

    def action_values(self, hand: int) -> Floats:
        """What each action here is worth to the player who acts, with a hand: float64 [A], in chips.

        Both play by the average policies of the round's search or solution, before and after; where the turn's betting ends, it
        is worth what the leaf says. Counted from half of the pot with which the round began; NaN where no hand of the other's
        range fits.

        Raises:
            GameError: nobody is to act, or the hand cannot be held here.
        """
        self.probabilities(hand)
        event, (solved, _) = self.event, self._searched()
        assert isinstance(event, Decision)
        values, player = solved.values, event.player
        tree = values.tree(0, 0, 0, values.root_reach())
        place = int(np.flatnonzero(values.game.boards[0][0].hands[player] == hand)[0])
        met = values.compatible(0, player, tree.reach[self.belief.node][1 - player])
        worth = np.array([tree.values[child][player] for child in event.children])
        return np.asarray(ratio(worth, np.broadcast_to(met, worth.shape))[:, place])

    def act(self, hand: int) -> int:
        """The number of an action drawn from :meth:`probabilities`; tell it to :meth:`observe`."""
        return pick(self.generator, self.probabilities(hand))

    def observe(self, action: int) -> None:
        """An action was played: its number among those of :attr:`event`.

        Raises:
            GameError: nobody acts here, or there is no such action.
        """
        event, belief = self.event, self.belief
        if not isinstance(event, Decision) or not 0 <= action < len(event.actions):
            raise GameError(f"no action number {action} at node {belief.node} of the betting")
        solved, stop = self._searched()
        rows = policy_table(solved.game, belief.node, (solved.policies if solved.believed is None else solved.believed)[stop])
        ranges = [with_trace(own[None])[0] for own in belief.ranges]  # else two ranges that exclude each other are nowhere
        ranges[event.player] = with_trace((belief.ranges[event.player] * rows[action])[None])[0]
        self._path += (event.actions[action],)
        self.belief = HoldemBelief.of(belief.rules, event.children[action], belief.board, ranges)

    def deal(self, card: int) -> None:
        """The river came, after the turn's betting: a new subgame begins.

        Raises:
            GameError: no card is due, or it lies there already.
        """
        if not isinstance(self.event, StreetEnd):
            raise GameError(f"no card is due on {cards_to_string(self.belief.board)} for players to act on")
        dealt = self.belief.dealt([card])
        spot = replace(self._root.rules.spot, board=dealt.board, pot=dealt.pot, stack=min(dealt.stacks), ranges=dealt.ranges)
        self._open(HoldemBelief.root(HoldemRules.of(spot)))

    def add(self, amount: float) -> int:
        """The number of the bet or raise to ``amount`` chips, in all on this street, by the player to act.

        A size that the spot does not offer is added for that player and street, and the round is searched anew from its
        beginning with it, for the rest of this game (section 6: actions outside the tree are added to it).

        Raises:
            GameError: nobody acts here, or the rules have no such bet.
        """
        if not isinstance(self.event, Decision):
            raise GameError(f"nobody is to act at node {self.belief.node} of the betting")
        found = action_to(self.event, amount)
        if found is None:
            path, root, rules, before = self._path, self._root, self._with_size(amount), dict(vars(self))
            try:
                self._open(HoldemBelief.of(rules, 0, root.board, root.ranges))
                for action in path:
                    self.observe(number_of(self.event, action))
            except BaseException:  # nothing is half done: the game stands as it stood
                vars(self).update(before)
                raise
            assert isinstance(self.event, Decision)
            found = action_to(self.event, amount)
        assert found is not None
        return found

    def _with_size(self, amount: float) -> HoldemRules:
        """The rules of this round with one more size, if they come to offer it here.

        Raises:
            GameError: they do not.
        """
        event, spot = self.event, self._root.rules.spot
        assert isinstance(event, Decision)
        if not isinstance(spot.bets, BetPlan):
            raise GameError("fixed-limit betting has no other sizes")
        if not any(action.kind in ("bet", "raise", "allin") for action in event.actions) and not open_to_raise(event, spot):
            raise GameError("nothing can be raised here; somebody is all-in")
        faced = max(event.street_bets)
        rules = HoldemRules.of(replace(spot, bets=with_size(spot.bets, event, max(amount - faced, 0.0))))
        after = decision_after(rules, self._path)
        if action_to(after, amount) is None:
            sums = [action.amount for action in after.actions if action.kind in ("bet", "raise", "allin")]
            raise GameError(f"no bet of {amount:g} chips in all here: {allowed(sums, amount, spot)}")
        return rules

    def _open(self, root: HoldemBelief) -> None:
        """Begin a betting round."""
        self._root = self.belief = root
        self._path: tuple[Action, ...] = ()
        self._drawn: tuple[Solved, int] | None = None

    def _searched(self) -> tuple[Solved, int]:
        """The round, and which of its policies is played in this game."""
        if self._drawn is None:
            solved = self._river() if self.on_river else self._turn()
            count = len(solved.policies)
            stop = 0 if count == 1 else int(np.searchsorted(self._cumulative, self.generator.random(), side="right"))
            self._drawn = solved, min(stop, count - 1)
        return self._drawn

    def forget(self) -> None:
        """Forget the turns that were solved in earlier games."""
        self._known.clear()

    def memory_for(self, turn: SplitTurn) -> int:
        """Bytes that the policies of a search of this turn take."""
        return 4 * (self.iterations if self.drawn else 1) * turn.top.stored * (2 if self._averages_believed else 1)

    @property
    def _averages_believed(self) -> bool:
        """Whether ranges move by another policy than the one that is played: in CFR-AVG."""
        return self.drawn and self.method.leaves != "current" and not isinstance(self.method.scheme, FictitiousRule)

    def _turn(self) -> Solved:
        """Search the turn from its ranges, or remember it."""
        spot = self._root.rules.spot
        key = spot.identity
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        turn, playing = split_turn(spot), isinstance(self.method.scheme, FictitiousRule)
        search = HoldemSearch(turn, self.method, self.leaf(turn), spot.ranges, horizon=self.iterations)
        policies = np.empty((self.iterations if self.drawn else 1, len(search.strategy)), np.float32)
        believed = np.empty_like(policies) if self._averages_believed else None
        for t in range(self.iterations):
            if self.drawn and not playing:
                policies[t] = search.store.guesses
            search.run(1)
            if self.drawn and playing:
                policies[t] = search.average
            if believed is not None:
                believed[t] = search.average
        if not self.drawn:
            policies[0] = search.average
        self.searches += 1
        found = Solved(turn.top, policies, search.average_values(), believed)
        if self.remember:
            self._known[key] = found
            while len(self._known) > self.remember:
                self._known.popitem(last=False)
        return found

    def _river(self) -> Solved:
        """Solve the river from its ranges."""
        game = compile_spot(self._root.rules.spot, isomorphism=False)
        solver = HoldemSolver(game, "dcfr", threads=1, horizon=self.river)
        solver.run(self.river)
        average = solver.store.average.astype(np.float32)
        return Solved(game, average[None], HoldemValues(game, average))


def check_spot(spot: Spot) -> None:
    """Refuse a spot whose river is not the same game when it is taken by itself.

    Raises:
        GameError: it is no turn.
        AlgorithmError: it has rake, blinds, or donk sizes on the river.
    """
    if len(spot.streets) != 2:
        raise GameError(f"the spot has {len(spot.streets)} streets of betting, not 2: give the board of the turn")
    if spot.rake.rate:
        raise AlgorithmError("the agent knows no rake; leave the rake out")
    if spot.blinds is not None:
        raise AlgorithmError("the agent begins where a board lies, without blinds; give the pot instead")
    if isinstance(spot.bets, BetPlan) and spot.bets.streets[-1][0].donk is not None:
        raise AlgorithmError("the agent knows no donk sizes on the river; set donk to default")


def action_to(event: Decision, amount: float) -> int | None:
    """The number of the bet or raise to an amount, if it is offered."""
    for number, action in enumerate(event.actions):
        if action.kind in ("bet", "raise", "allin") and abs(action.amount - amount) < 1e-9 * max(amount, 1.0):
            return number
    return None


def number_of(event: Node, action: Action) -> int:
    """The number of an action in another betting tree at the same place.

    Raises:
        GameError: that tree has it no more.
    """
    assert isinstance(event, Decision)
    if action not in event.actions:
        raise GameError(f"beside that size the spot's merge leaves {action} out, which was played")
    return event.actions.index(action)


def decision_after(rules: HoldemRules, path: Sequence[Action]) -> Decision:
    """The decision after some actions from the beginning."""
    event = rules.tree.nodes[0]
    for action in path:
        assert isinstance(event, Decision)
        event = rules.tree.nodes[event.children[number_of(event, action)]]
    assert isinstance(event, Decision)
    return event


def with_size(plan: BetPlan, event: Decision, chips: float) -> BetPlan:
    """A plan with one more bet, or raise by so many chips, for the player to act on this street."""
    own = plan.streets[event.street][event.player]
    size = Size("chips", chips)
    changed = replace(own, raises=(*own.raises, size)) if max(event.street_bets) else replace(own, bets=(*own.bets, size))
    both = list(plan.streets[event.street])
    both[event.player] = changed
    return replace(plan, streets=(*plan.streets[: event.street], (both[0], both[1]), *plan.streets[event.street + 1 :]))


def open_to_raise(event: Decision, spot: Spot) -> bool:
    """Whether the other player has chips left to call more."""
    return event.contributions[1 - event.player] < spot.pot / 2 + spot.stack - spot.chip / 2


def allowed(sums: Sequence[float], amount: float, spot: Spot) -> str:
    """What bets the rules allow, for a message; ``sums`` are those offered when this one was asked for."""
    if abs(amount / spot.chip - round(amount / spot.chip)) > 1e-6:
        return f"bets are whole chips of {spot.chip:g}"
    if amount < min(sums):
        return f"at least {min(sums):g}"
    if amount > max(sums):
        return f"at most {max(sums):g}, all-in"
    return f"the spot's force_allin and merge leave {', '.join(f'{each:g}' for each in sums)}"
