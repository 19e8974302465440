"""Streets of hold'em as subgames: from any node of the betting to the end of a street, all hands at once.

A subgame keeps the streets above its cut, compiled by themselves (*top*), and what follows (*below*). It ends before the next
cards are seen; after an all-in the cards to come are dealt inside. Everything runs on the hold'em engine's kernels, which never
enumerate pairs of hands.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.tree.regret import Weights
from treeplex.errors import AlgorithmError, GameError
from treeplex.holdem.betting.tree import Decision, Showdown, StreetEnd, payoffs
from treeplex.holdem.engine.form import ACTIONS, BOARDS, COUNT, ENDS, REACH, ROOTS, STORE, HoldemForm, Store, Workspace
from treeplex.holdem.engine.passes import EXPECT, REPLY, BoardPool, answer, improve
from treeplex.holdem.engine.workspace import make_workspace
from treeplex.holdem.forms.betting_forest import Forest, grow
from treeplex.holdem.forms.boards import Board
from treeplex.holdem.forms.compile_spot import CompiledSpot, arrays_of, compile_spot
from treeplex.holdem.forms.open_street import compile_open_street
from treeplex.holdem.forms.suit_symmetry import Hands
from treeplex.holdem.rules.public import HoldemGame, HoldemState, holdem_state
from treeplex.holdem.spots.spot import Spot
from treeplex.search.subgames.beliefs import Belief, normalised_range, with_trace
from treeplex.search.subgames.gadgets import Gadget
from treeplex.search.subgames.horizon import Horizon
from treeplex.search.subgames.subgame import Places, Ranges, Subgame, SubgameArrays


@dataclass(frozen=True, eq=False, repr=False)
class HoldemPlaces(Places):
    """Public states of hold'em.

    Attributes:
        game: the game.
        states: the states.
        subgame: whose leaves they are; None for other states.
    """

    game: HoldemGame
    states: tuple[HoldemState, ...]
    subgame: "HoldemSubgame | None" = None

    @property
    def widths(self) -> tuple[int, ...]:
        hands = len(self.game.spot.format.hands)
        return hands, hands

    def opposing(self, reached: Ranges, player: int) -> Floats:
        return self.game.compatible(reached[1 - player])


@dataclass(frozen=True, eq=False, repr=False)
class HoldemSubgame(Subgame):
    """Some streets of a spot from one public state on; all parts have the same boards, and hands in the same order.

    Attributes:
        game: the game.
        state: the public state where it begins.
        streets: how many streets of betting come before the cut; all of them where nothing is cut off.
        whole: from the state to the end of the game, every board by itself: ranges may be replaced, so suits cannot stand for
            each other.
        top: the streets before the cut; of those that follow only the cards and showdowns after an all-in, where nobody acts.
            Where players go on to act, nothing is paid.
        open_ends: int64 [E], the ends of the last street before the cut after which players act; of a street by itself all.
        ranges: for each player float64 [1, H], with which it was cut, up to a factor.
        threads: that share its boards when it is solved; results do not depend on them.

    What a solver stores of ``whole`` is what it stores of ``top``, followed by what it stores of :attr:`below`.
    """

    game: HoldemGame
    state: HoldemState
    streets: int
    whole: CompiledSpot
    top: CompiledSpot
    open_ends: Ints
    ranges: Ranges
    gadget: Gadget | None = None
    threads: int = 1

    @cached_property
    def below(self) -> CompiledSpot:
        """The streets under the open ends. Those before the cut have no betting there, but one root (and one end) for each open
        end, so that the range with which a player comes to an end is one row of reach."""
        return below_of(self.whole, self.streets, self.open_ends)

    @cached_property
    def begun(self) -> CompiledSpot:
        """The whole subgame with the ranges with which it was cut, each summing to one.

        Raises:
            GameError: a range that it has no place for.
        """
        weights = [own[self.held(player)] for player, own in enumerate(checked(self, self.ranges))]
        return replace(self.whole, form=self.whole.form._replace(weights=np.concatenate(weights)))

    @cached_property
    def nodes(self) -> list[int]:
        """The nodes of the betting tree where the open ends are: street ends, and all-ins if they are open."""
        if not len(self.open_ends):
            return []
        numbers = {node.child: number for number, node in enumerate(self.game.tree.nodes) if isinstance(node, StreetEnd)}
        below = [self.whole.forests[self.streets - 1].below[k] for k in self.open_ends]
        return [numbers.get(number, number) for number in below]  # an all-in stands for itself

    @cached_property
    def roots(self) -> HoldemPlaces:  # type: ignore[override]
        """The state where it begins."""
        return HoldemPlaces(self.game, (self.state,))

    @cached_property
    def leaves(self) -> HoldemPlaces:  # type: ignore[override]
        """The open ends on each board of the last street before the cut, those of one board together."""
        states = [HoldemState(node, board.cards) for board in self.last_boards for node in self.nodes]
        return HoldemPlaces(self.game, tuple(states), self)

    @property
    def last_boards(self) -> list[Board]:
        """The boards of the last street before the cut."""
        return self.whole.boards[self.streets - 1]

    def held(self, player: int) -> NDArray[np.int16]:
        """The hands of a player in the order of the compiled subgame, numbers of the format's hands."""
        hands: NDArray[np.int16] = self.whole.boards[0][0].hands[player]
        return hands

    @property
    def admitted(self) -> Ranges:
        found = tuple(np.zeros((1, width)) for width in self.roots.widths)
        for player, own in enumerate(found):
            own[0, self.held(player)] = 1.0
        return found

    def start(self, ranges: Ranges | None = None, *, predicts: bool) -> "HoldemArrays":
        return HoldemArrays(self, self.ranges if ranges is None else ranges, predicts=predicts)

    @property
    def storage(self) -> type[np.floating[Any]]:
        return np.float32

    @property
    def size(self) -> int:
        return self.top.stored

    def find(self, owner: int, path: tuple[int, ...]) -> tuple[str, int]:
        """As :meth:`Subgame.find`.

        A decision on the board where the subgame begins has the number of its node in the betting tree, on other boards as many
        more as there are nodes on all boards before.
        """
        state = self.state
        for label in path:
            state = self.game.after(state, label)
        street = next(
            (s for s, boards in enumerate(self.whole.boards) if len(boards[0].cards) == len(state.board)), self.streets
        )
        board = board_number(self.whole, street, state.board) if street < self.streets else None
        if board is not None and isinstance(self.game.event(state), Decision):
            return "decision", (self.whole.first_boards[street] + board) * len(self.game.tree) + state.node
        if board is not None and street + 1 == self.streets and state.node in self.nodes:
            return "leaf", board * len(self.nodes) + self.nodes.index(state.node)
        return "end", -1

    def policy_at(self, decision: int, source: NDArray[Any]) -> Floats:
        board, node = divmod(decision, len(self.game.tree))
        street = sum(first <= board for first in self.top.first_boards) - 1
        return policy_table(self.top, node, source, street, board - self.top.first_boards[street])

    def ranges_after(self, source: NDArray[Any], path: tuple[int, ...], ranges: Ranges) -> Ranges:
        """As :meth:`Subgame.ranges_after`.

        A trace of every hand is kept after each action, or two ranges that exclude each other would be nowhere.
        """
        belief = Belief(self.game, self.state, tuple(own[0] for own in ranges))
        for depth, label in enumerate(path):
            options, moved = self.game.options(belief.state), list(belief.ranges)
            if options.player >= 0:
                rows = self.policy_at(self.find(0, path[:depth])[1], source)
                moved = [with_trace(own) for own in moved]
                moved[options.player] = with_trace(belief.ranges[options.player] * rows[label])
            belief = Belief.of(self.game, self.game.after(belief.state, label), moved)
        return tuple(moved)


def cut_holdem(game: HoldemGame, belief: Belief, horizon: Horizon, gadget: Gadget | None = None) -> HoldemSubgame:
    """Compile the subgame that begins at a public belief state of hold'em; hands with a weight are those that can be held.

    Raises:
        GameError: the game is over there, or as :func:`compile_spot`.
        AlgorithmError: a horizon that does not lie at the end of a street.
    """
    if horizon.depth is not None or horizon.endgame or horizon.dealt:
        raise AlgorithmError("subgames of hold'em end with a street of betting: give rounds, no depth, no endgame and no dealt")
    state = holdem_state(belief.state)
    event = game.event(state)
    if not isinstance(event, Decision | StreetEnd):
        raise GameError(f"a subgame cannot begin at {game.name_of(state)}, where nobody acts any more")
    if horizon.all_in:
        alone = compile_open_street(spot_at(game, belief), game.tree, state.node)
        first, second = belief.ranges
        ends = np.arange(len(alone.forests[0].ends))
        return HoldemSubgame(game, state, 1, alone, alone, ends, (first[None], second[None]), gadget)
    whole = compile_spot(spot_at(game, belief), isomorphism=False, betting=game.tree, root=state.node)
    streets = len(whole.forests)
    if horizon.rounds:
        streets = min(horizon.rounds + isinstance(event, StreetEnd), streets)
    open_ends = np.zeros(0, np.int64)
    if streets < len(whole.forests):
        ended = [isinstance(game.tree.nodes[node], Showdown) for node in whole.forests[streets - 1].below]
        open_ends = np.flatnonzero(~np.array(ended, bool))
    top = whole if streets == len(whole.forests) else top_of(whole, streets)
    begins = state == game.first_state() and all(
        np.array_equal(normalised_range(own, can), ours)
        for own, can, ours in zip(game.spot.ranges, game.possible(state), belief.ranges, strict=True)
    )
    first, second = game.spot.ranges if begins else belief.ranges
    return HoldemSubgame(game, state, streets, whole, top, open_ends, (first[None], second[None]), gadget)


def cut_spot(spot: Spot, streets: int = 1) -> HoldemSubgame:
    """The first streets of a spot, from its beginning: :func:`cut_holdem` of them.

    Raises:
        GameError: as there.
    """
    game = HoldemGame.of(spot)
    return cut_holdem(game, Belief.root(game), Horizon(rounds=streets))


def spot_at(game: HoldemGame, belief: Belief) -> Spot:
    """The cards and ranges of a state as a spot, for compiling; chips are those of the game's beginning."""
    spot, state = game.spot, holdem_state(belief.state)
    same = all(np.array_equal(own > 0, weights > 0) for own, weights in zip(belief.ranges, spot.ranges, strict=True))
    if state.board == spot.board and same:
        return spot
    pot, blinds = (spot.pot, spot.blinds) if state.board == spot.board else (max(spot.pot, spot.chip), None)
    return replace(spot, board=state.board, ranges=(belief.ranges[0], belief.ranges[1]), pot=pot, blinds=blinds)


def part_of(whole: CompiledSpot, forests: list[Forest]) -> CompiledSpot:
    """The spot with other forests on the same boards."""
    return replace(whole, forests=forests, form=arrays_of(whole.spot, forests, whole.boards, Hands(whole.spot)))


def top_of(whole: CompiledSpot, streets: int) -> CompiledSpot:
    """The first streets, and the cards and showdowns after an all-in in them."""
    forests = whole.forests[:streets]
    for forest in whole.forests[streets:]:
        roots, last = forests[-1].below, forest is whole.forests[-1]
        runout = Forest(forest.street, roots)
        for k, number in enumerate(roots):
            node = whole.betting.nodes[number]
            if isinstance(node, Showdown) and last:
                runout.showdowns.append((k, k))
                runout.showdown_values.append(payoffs(node, whole.spot.rake))
            elif isinstance(node, Showdown):
                runout.ends.append((k, k))
                runout.below.append(number)
        forests = [*forests, runout]
    return part_of(whole, forests)


def below_of(whole: CompiledSpot, streets: int, ends: Ints) -> CompiledSpot:
    """The streets under some ends of the last one before the cut."""
    roots = [whole.forests[streets - 1].below[k] for k in ends]
    doors = [(k, k) for k in range(len(roots))]
    forests = [Forest(forest.street, roots, ends=list(doors), below=roots) for forest in whole.forests[:streets]]
    for forest in whole.forests[streets:]:
        grown = Forest(forest.street, forests[-1].below)
        grow(grown, whole.betting, whole.spot.rake, last=forest is whole.forests[-1])
        forests.append(grown)
    return part_of(whole, forests)


class HoldemArrays(SubgameArrays):
    """Streets of hold'em being solved.

    Attributes:
        subgame: the subgame.
        store: regrets, policy and average, float64 [Q] each, as :class:`treeplex.holdem.engine.form.Store` has them for
            ``subgame.top``; of fictitious play the regrets are the last best responses.
        crew: threads with scratch space.
    """

    def __init__(self, subgame: HoldemSubgame, ranges: Ranges, *, predicts: bool) -> None:
        """Start from the uniform policy.

        Raises:
            GameError: a range that the compiled subgame has no place for.
        """
        self.subgame, whole, top = subgame, subgame.whole, subgame.top
        first, second = checked(subgame, ranges)
        self.ranges = first[None], second[None]
        self._hands = subgame.held(0), subgame.held(1)
        weights = np.concatenate([own[hands] for own, hands in zip((first, second), self._hands, strict=True)])
        form = top.form._replace(weights=weights)
        self.crew = BoardPool(form, make_workspace(form, subgame.threads, np.float64, raked=whole.raked), raked=whole.raked)
        self.regrets, self.average, self.strategy, self.faced = (np.zeros(top.stored) for _ in range(4))
        self.policy = np.zeros(top.stored) if predicts else self.regrets
        self.store = store_with(self.regrets, self.policy, self.average)
        self._own = own_parts(top, 0, subgame.streets), own_parts(top, 1, subgame.streets)
        self._last, self._against = self.crew.last, self.strategy
        for player in (0, 1):
            self.play(player)

    def enter(self, player: int, ranges: Floats) -> None:
        self.ranges = (ranges, self.ranges[1]) if player == 0 else (self.ranges[0], ranges)
        first = player * len(self._hands[0])
        self.crew.form.weights[first : first + len(self._hands[player])] = ranges[0, self._hands[player]]

    def play(self, player: int) -> None:
        self._write_sequence_form(player, self.policy, self.strategy)

    def sequence_form(self, policy: Floats) -> Floats:
        """The sequence form of what is proportional to a policy, float64 [Q] both."""
        found = np.zeros_like(policy)
        for player in (0, 1):
            self._write_sequence_form(player, policy, found)
        return found

    def _write_sequence_form(self, player: int, policy: Floats, strategy: Floats) -> None:
        """A player's part of it."""
        target, scales = self.store._replace(average=strategy), self.store.guess_scales
        self.crew.descend(player, policy, scales, target, keep=0.0, add=1.0, streets=self.subgame.streets)

    def accumulate(self, player: int, discount: float, weight: float, average: Floats, strategy: Floats) -> None:
        for own in self._own[player]:
            average[own] = discount * average[own] + weight * strategy[own]

    def reach_at_leaves(self, strategy: Floats) -> Ranges:
        ends = np.array(self.subgame.whole.forests[self.subgame.streets - 1].ends, np.int64).reshape(-1, 2)
        ends, found = ends[self.subgame.open_ends], []
        for player, width in enumerate(self.subgame.leaves.widths):
            arrived = np.zeros((len(self.subgame.last_boards), len(ends), width))
            for own, board, rows in zip(arrived, self.subgame.last_boards, self._rows(player, strategy), strict=True):
                own[:, board.hands[player]] = rows[ends[:, player]]
            found.append(arrived.reshape(-1, width))
        return tuple(found)

    def _rows(self, player: int, strategy: Floats) -> list[Floats]:
        """The rows of reach of a player, roots first, on every board of the last street before the cut."""
        form, top, above = self.crew.form, self.subgame.top, [self.ranges[player][0][self._hands[player]][None]]
        for street in range(self.subgame.streets):
            rows, first = [], top.first_boards[street]
            for number, board in enumerate(top.boards[street], start=first):
                start, count = int(form.boards[number, STORE + player]), int(form.boards[number, COUNT + player])
                own = strategy[start : start + int(form.streets[street, ACTIONS + player]) * count].reshape(-1, count)
                roots = above[0] if street == 0 else above[board.parent][:, board.source[player]]
                rows.append(np.concatenate((roots, own)))
            if street + 1 == self.subgame.streets:
                return rows
            ends = np.array(top.forests[street].ends, np.int64).reshape(-1, 2)[:, player]
            above = [own[ends] for own in rows]
        raise AssertionError

    def write_gradient(self, player: int, strategy: Floats) -> None:
        subgame, crew, store = self.subgame, self.crew, self.store
        self._against = strategy
        if self._last > 0:
            for each in (0, 1):
                rows, own = rows_of(crew.form, crew.work, each, 0), self._first_street(each)
                rows[0] = self.ranges[each][0][self._hands[each]]
                rows[1:] = strategy[own].reshape(-1, rows.shape[1])
                crew.descend(each, strategy, store.average_scales, store, first=1, streets=self._last)
        if subgame.streets <= self._last:
            empty = store.average[:0]
            crew.ascend(answer, player, EXPECT, empty, store.average_scales, store, first=subgame.streets)

    def _first_street(self, player: int) -> slice:
        """Where a player's numbers of the first board are."""
        return board_part(self.subgame.top, 0, 0, player)

    def write_leaves(self, player: int, entries: Floats) -> None:
        crew, street, ends = self.crew, self.subgame.streets - 1, self.subgame.open_ends
        found = entries.reshape(len(self.subgame.last_boards), len(ends), -1)
        for number, board in enumerate(self.subgame.last_boards):
            returned = rows_of(crew.form, crew.work, player, number, street=street, gathered=True)
            returned[ends] = found[number][:, board.hands[player]]

    def improve(self, player: int, row: Weights) -> None:
        def step() -> None:
            self.crew.ascend(improve, player, self.store, np.array(row), 1.0, 0.0, streets=self.subgame.streets)

        if self.subgame.streets <= self._last:
            step()
            return
        others = self._own[1 - player]  # in the last street the kernel takes the others' play from their policy
        kept = [self.policy[own].copy() for own in others]
        for own in others:
            self.policy[own] = self._against[own]
        step()
        for own, policy in zip(others, kept, strict=True):
            self.policy[own] = policy

    def respond(self, player: int) -> None:
        store, against = self.store, self._against
        self.crew.ascend(answer, player, REPLY, against, store.average_scales, store, streets=self.subgame.streets)

    def expect(self, player: int, strategy: Floats) -> None:
        """Values of a player when both follow a strategy, [Q]; after :meth:`write_gradient` and :meth:`write_leaves`."""
        store = self.store
        self.crew.ascend(answer, player, EXPECT, strategy, store.average_scales, store, streets=self.subgame.streets)

    def root_entries(self, player: int) -> Floats:
        found = np.zeros((1, self.subgame.roots.widths[player]))
        found[0, self._hands[player]] = self.crew.root_values(player)
        return found

    def as_policy(self, strategy: Floats) -> Floats:
        return strategy.copy()


def store_with(regrets: Floats, policy: Floats, average: Floats) -> Store:
    """Arrays as the engine takes them, without what other algorithms keep."""
    scales: NDArray[Any] = np.zeros(0, np.float32)
    none = np.zeros(0)
    return Store(
        regrets=regrets,
        guesses=policy,
        average=average,
        regret_scales=scales,
        guess_scales=scales,
        average_scales=scales,
        previous=none,
        changes=np.zeros((2, 0)),
        target=none,
        locked=np.zeros(0, np.uint8),
        lock_places=np.zeros(0, np.int64),
        lock_values=none,
    )


def rows_of(
    form: HoldemForm, work: Workspace, player: int, board: int = 0, *, street: int = 0, gathered: bool = False
) -> NDArray[Any]:
    """A player's rows at a board of a street, counted from its first, a view [sequences, hands].

    They are own reach, or what came back at each end of the street.
    """
    row, streets = form.boards[int(form.streets[street, BOARDS]) + board], form.streets[street]
    hands, start = int(row[COUNT + player]), int(row[REACH + player])
    count = int(streets[ENDS + 1] - streets[ENDS]) if gathered else int(streets[ROOTS] + streets[ACTIONS + player])
    return (work.gathered if gathered else work.reach)[start : start + count * hands].reshape(count, hands)


def board_part(game: CompiledSpot, street: int, number: int, player: int) -> slice:
    """Where a player's numbers for a board of a street are in the arrays that a solver stores for a game."""
    row = game.form.boards[game.first_boards[street] + number]
    start = int(row[STORE + player])
    return slice(start, start + game.forests[street].actions[player] * int(row[COUNT + player]))


def own_parts(game: CompiledSpot, player: int, streets: int = 1) -> list[slice]:
    """Where a player's numbers for the first streets are in the arrays that a solver stores for a game, board by board."""
    return [board_part(game, street, k, player) for street in range(streets) for k in range(len(game.boards[street]))]


def policy_table(game: CompiledSpot, node: int, source: NDArray[Any], street: int = 0, number: int = 0) -> Floats:
    """How each hand plays at a decision of a game, float64 [A, H]; uniform for hands that cannot be there.

    Args:
        game: the compiled game.
        node: the decision, a node of its betting tree.
        source: [Q], what the policy is proportional to, as a solver stores it for the game.
        street, number: the board, counted from the street's first.

    Raises:
        GameError: the node is no decision of that street.
    """
    rows = np.maximum(decision_rows(game, node, source, street, number), 0.0)
    player, total = decision_at(game, node, street).player, rows.sum(axis=0)
    table = np.full((len(rows), len(game.spot.ranges[0])), 1.0 / len(rows))
    hands = game.boards[street][number].hands[player]
    table[:, hands] = np.divide(rows, total, out=table[:, hands], where=total > 0)
    return table


def decision_at(game: CompiledSpot, node: int, street: int) -> Decision:
    """A decision of a street.

    Raises:
        GameError: the node is none.
    """
    event = game.betting.nodes[node]
    if not isinstance(event, Decision) or node not in game.forests[street].numbers[event.player]:
        raise GameError(f"node {node} of the betting is no decision of this round")
    return event


def decision_rows(game: CompiledSpot, node: int, source: NDArray[Any], street: int = 0, number: int = 0) -> NDArray[Any]:
    """What is stored of a decision's actions, a view [A, hands on the board]; arguments as of :func:`policy_table`."""
    player, forest = decision_at(game, node, street).player, game.forests[street]
    hands = len(game.boards[street][number].hands[player])
    _, first, count = forest.nodes[player][forest.numbers[player].index(node)]
    return source[board_part(game, street, number, player)].reshape(-1, hands)[first : first + count]


def board_number(game: CompiledSpot, street: int, cards: Sequence[int]) -> int | None:
    """The number of a board among those of its street; cards of one deal may come in any order."""
    if street == 0:
        return 0
    before = len(game.boards[street - 1][0].cards)
    parent = board_number(game, street - 1, tuple(cards)[:before])
    if parent is None:
        return None
    dealt = set(cards[before:])
    return next(
        (k for k in game.boards[street - 1][parent].children if set(game.boards[street][k].cards[before:]) == dealt), None
    )


def checked(subgame: HoldemSubgame, ranges: Ranges) -> tuple[Floats, Floats]:
    """Ranges that sum to one over possible hands, float64 [H] from [1, H]."""
    game, board = subgame.game, subgame.state.board
    found = []
    for player, given in enumerate(ranges):
        own, free = np.asarray(given, np.float64), game.free(board)
        can = np.zeros(len(free))
        can[subgame.held(player)] = 1.0
        if own.shape != (1, *can.shape) or not (np.isfinite(own) & (own >= 0)).all() or not own[0] @ can > 0:
            raise GameError(f"the range of player {player} must be {len(can)} numbers >= 0, with a hand that the subgame has")
        if ((own[0] > 0) & (can == 0) & free).any():
            raise GameError(
                f"the range of player {player} has hands that the subgame was compiled without; compile it with them"
            )
        found.append(normalised_range(own[0], can))
    return found[0], found[1]
