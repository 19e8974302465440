"""Hold'em streets as subgames: from any betting node to the end of a street, for all hands at once.

A subgame consists of the streets before its cut, compiled separately (*top*), and those after it (*below*). It ends before
the next cards are dealt; after an all-in the remaining cards are dealt inside. Everything runs on the hold'em engine's
kernels, which never enumerate pairs of hands.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.tree.regret import Weights
from treeplex.errors import AlgorithmError, GameError, SpecError
from treeplex.holdem.betting.tree import Decision, Showdown, StreetEnd
from treeplex.holdem.engine.form import ACTIONS, COUNT, STORE
from treeplex.holdem.engine.passes import EXPECT, REPLY, BoardPool, answer, improve
from treeplex.holdem.engine.workspace import make_workspace
from treeplex.holdem.forms.boards import Board
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.forms.first_street import compile_first_street
from treeplex.holdem.forms.layout import (
    below_of,
    board_number,
    board_part,
    own_parts,
    policy_table,
    rows_of,
    store_with,
    top_of,
)
from treeplex.holdem.forms.open_street import compile_open_street
from treeplex.holdem.policies.node_values import HoldemValues
from treeplex.holdem.rules.public import HoldemGame, HoldemState, holdem_state
from treeplex.holdem.search.leaves.endgames import HoldemEndgames
from treeplex.holdem.search.subgames.action_values import StreetWorth, worth_of_search, worth_of_solution
from treeplex.holdem.search.subgames.endgame_search import EndgameSearch, passes
from treeplex.holdem.search.subgames.response import HoldemResponse, values_to_leaves
from treeplex.holdem.search.subgames.warm_start import regrets_of_guess, write_guess
from treeplex.holdem.spots.spot import Spot
from treeplex.search.methods import Method
from treeplex.search.subgame_search import SubgameSearch
from treeplex.search.subgames.beliefs import Belief, normalised_range, with_trace
from treeplex.search.subgames.gadgets import Gadget
from treeplex.search.subgames.horizon import Horizon
from treeplex.search.subgames.subgame import Endgame, Places, Ranges, Subgame, SubgameArrays
from treeplex.search.warm_start.guess import Guess, GuessRegrets


@dataclass(frozen=True, eq=False, repr=False)
class HoldemPlaces(Places):
    """Public states of hold'em.

    Attributes:
        game: the game.
        states: the states.
        subgame: the subgame whose leaves they are; None for other states.
    """

    game: HoldemGame
    states: tuple[HoldemState, ...]
    subgame: "HoldemSubgame | None" = None

    @property
    def widths(self) -> tuple[int, ...]:
        hands = len(self.game.spot.format.hands)
        return hands, hands

    @property
    def cut_from(self) -> "HoldemSubgame":
        """The subgame whose leaves these states are.

        Raises:
            AlgorithmError: the states are not leaves.
        """
        if self.subgame is None:
            raise AlgorithmError("exact values need the leaves of a subgame; cut a subgame and use its leaves")
        return self.subgame

    def opposing(self, reached: Ranges, player: int) -> Floats:
        return self.game.compatible(reached[1 - player])

    def endgames(self, method: str, iterations: int, *, threads: int, storage: str) -> HoldemEndgames:
        return HoldemEndgames(self.cut_from, method=method, iterations=iterations, threads=threads, storage=storage)


@dataclass(frozen=True, eq=False, repr=False)
class HoldemSubgame(Subgame):
    """Streets of a spot from one public state on; all parts have the same boards and the same order of hands.

    Attributes:
        game: the game.
        state: the public state at the start.
        streets: number of betting streets before the cut; all of them without a cut.
        whole: from the state to the end of the game, without isomorphism, since ranges may be replaced.
        top: the streets before the cut; of later streets only the cards and showdowns after an all-in. Street ends after which
            betting continues have no payoff.
        open_ends: int64 [E], the ends of the last street before the cut after which players act; all ends for a street alone.
        ranges: for each player float64 [1, H], the unnormalised ranges at the cut.
        threads: threads that share its boards; results do not depend on them.

    A solver's arrays of ``whole`` are those of ``top`` followed by those of :attr:`below`.
    """

    plays_behind_gadgets = False
    policy_from_regrets = True

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
        """The streets under the open ends. Streets before the cut have one root and end per open end and no betting, so that a
        player's range at an end is one row of reach."""
        return below_of(self.whole, self.streets, self.open_ends)

    @cached_property
    def normalised(self) -> Ranges:
        """For each player float64 [1, H], the normalised range at the cut.

        Raises:
            GameError: a range has hands that were not compiled.
        """
        first, second = checked(self, self.ranges)
        return first[None], second[None]

    @cached_property
    def begun(self) -> CompiledSpot:
        """The whole subgame with its ranges normalised.

        Raises:
            GameError: a range has hands that were not compiled.
        """
        weights = [own_range[0, self.held(player)] for player, own_range in enumerate(self.normalised)]
        return replace(self.whole, form=self.whole.form._replace(weights=np.concatenate(weights)))

    @cached_property
    def nodes(self) -> list[int]:
        """The betting-tree nodes of the open ends: street ends, and all-ins if they are leaves."""
        if not len(self.open_ends):
            return []
        numbers = {node.child: number for number, node in enumerate(self.game.tree.nodes) if isinstance(node, StreetEnd)}
        below = [self.whole.forests[self.streets - 1].below[k] for k in self.open_ends]
        return [numbers.get(number, number) for number in below]  # for an all-in, the entry is its own node

    @cached_property
    def roots(self) -> HoldemPlaces:  # type: ignore[override]
        """The public state at the start."""
        return HoldemPlaces(self.game, (self.state,))

    @cached_property
    def leaves(self) -> HoldemPlaces:  # type: ignore[override]
        """The open ends on each board of the last street before the cut, grouped by board."""
        states = [HoldemState(node, board.cards) for board in self.last_boards for node in self.nodes]
        return HoldemPlaces(self.game, tuple(states), self)

    @property
    def last_boards(self) -> list[Board]:
        """The boards of the last street before the cut."""
        return self.whole.boards[self.streets - 1]

    def held(self, player: int) -> NDArray[np.int16]:
        """A player's hands in the order of the compiled subgame, as indices into the format's hands."""
        hands: NDArray[np.int16] = self.whole.boards[0][0].hands[player]
        return hands

    @property
    def admitted(self) -> Ranges:
        masks = tuple(np.zeros((1, width)) for width in self.roots.widths)
        for player, mask in enumerate(masks):
            mask[0, self.held(player)] = 1.0
        return masks

    def start(self, ranges: Ranges | None = None, *, predicts: bool) -> "HoldemArrays":
        return HoldemArrays(self, self.ranges if ranges is None else ranges, predicts=predicts)

    @property
    def storage(self) -> type[np.floating[Any]]:
        return np.float32

    @property
    def size(self) -> int:
        return self.top.stored

    def find(self, owner: int, path: tuple[int, ...]) -> tuple[str, int]:
        """Find a decision; see :meth:`Subgame.find`.

        A decision on the first board has the index of its betting-tree node; on other boards, plus the number of nodes on
        all boards before.
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
        """Ranges after an action; see :meth:`Subgame.ranges_after`.

        Every hand keeps a tiny weight after each action, so that the two ranges always remain compatible.
        """
        belief = Belief(self.game, self.state, tuple(weights[0] for weights in ranges))
        for depth, label in enumerate(path):
            options, moved = self.game.options(belief.state), list(belief.ranges)
            if options.player >= 0:
                rows = self.policy_at(self.find(0, path[:depth])[1], source)
                moved = [with_trace(weights) for weights in moved]
                moved[options.player] = with_trace(belief.ranges[options.player] * rows[label])
            belief = Belief.of(self.game, self.game.after(belief.state, label), moved)
        return tuple(moved)

    def on_threads(self, threads: int) -> "HoldemSubgame":
        return replace(self, threads=threads)

    def endgame(self, method: Method, horizon: int, *, as_cut: bool = False) -> EndgameSearch | None:
        if len(self.leaves) or not passes(method):
            return None
        return EndgameSearch(self, method, horizon=horizon, as_cut=as_cut)

    def responses(self, policy: NDArray[Any], player: int, leaf_values: Floats | None) -> HoldemResponse:
        if leaf_values is None or not len(self.leaves):
            return HoldemResponse(self, HoldemValues(self.begun, policy, responder=player), player)
        arrays, other = self.start(predicts=True), 1 - player
        arrays.policy[:] = policy
        arrays.play(other)
        arrays.write_gradient(player, arrays.strategy)
        arrays.write_leaves(player, leaf_values * self.leaves.opposing(arrays.reach_at_leaves(arrays.strategy), player))
        return HoldemResponse(self, values_to_leaves(self, arrays, policy, player), player)

    def action_worth(self, search: Endgame) -> StreetWorth | None:
        if not len(self.leaves):
            return worth_of_solution(self, search.average_policy().astype(np.float32))
        assert isinstance(search, SubgameSearch)
        return worth_of_search(self, search)

    def write_guess(self, search: SubgameSearch, guess: Guess) -> None:
        write_guess(search, guess)

    def regrets_of_guess(self, search: SubgameSearch, weight: float) -> GuessRegrets:
        return regrets_of_guess(search, weight)


def cut_holdem(game: HoldemGame, belief: Belief, horizon: Horizon, gadget: Gadget | None = None) -> HoldemSubgame:
    """Compile the subgame at a public belief state of hold'em; only hands with positive weight are included.

    Raises:
        GameError: the game is over there, or as in :func:`compile_spot`.
        AlgorithmError: the horizon is not at the end of a street.
    """
    if horizon.depth is not None or horizon.endgame or horizon.dealt:
        raise AlgorithmError(
            "hold'em subgames end with a street of betting; give only 'rounds', without 'depth', 'endgame' and 'dealt'"
        )
    state = holdem_state(belief.state)
    event = game.event(state)
    if not isinstance(event, Decision | StreetEnd):
        raise GameError(f"a subgame cannot begin at {game.name_of(state)}, where no player acts")
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
        np.array_equal(normalised_range(weights, can), ours)
        for weights, can, ours in zip(game.spot.ranges, game.possible(state), belief.ranges, strict=True)
    )
    first, second = game.spot.ranges if begins else belief.ranges
    return HoldemSubgame(game, state, streets, whole, top, open_ends, (first[None], second[None]), gadget)


def cut_spot(spot: Spot, streets: int = 1) -> HoldemSubgame:
    """The first streets of a spot as a subgame; see :func:`cut_holdem`.

    Raises:
        GameError: as in :func:`cut_holdem`.
    """
    game = HoldemGame.of(spot)
    return cut_holdem(game, Belief.root(game), Horizon(rounds=streets))


def cut_first_street(spot: Spot) -> HoldemSubgame:
    """The first street of a spot as a subgame; its leaves are the ends of the betting, all-ins included.

    Raises:
        GameError, SpecError: as in :func:`compile_first_street`, or the spot has rake.
    """
    if spot.rake.rate:
        raise SpecError("leaf values after a street do not support rake; leave the rake out, or solve to the end")
    game = HoldemGame.of(spot)
    compiled = compile_first_street(spot, game)
    ends = np.arange(len(compiled.forests[0].ends))
    first, second = spot.ranges
    return HoldemSubgame(game, game.first_state(), 1, compiled, compiled, ends, (first[None], second[None]))


def spot_at(game: HoldemGame, belief: Belief) -> Spot:
    """A state's board and ranges as a spot for compiling, with chip amounts as at the start of the game."""
    spot, state = game.spot, holdem_state(belief.state)
    same = all(np.array_equal(ours > 0, weights > 0) for ours, weights in zip(belief.ranges, spot.ranges, strict=True))
    if state.board == spot.board and same:
        return spot
    pot, blinds = (spot.pot, spot.blinds) if state.board == spot.board else (max(spot.pot, spot.chip), None)
    return replace(spot, board=state.board, ranges=(belief.ranges[0], belief.ranges[1]), pot=pot, blinds=blinds)


class HoldemArrays(SubgameArrays):
    """Arrays for solving hold'em streets.

    Attributes:
        subgame: the subgame.
        store: regrets, policy and average, float64 [Q] each, as in :class:`treeplex.holdem.engine.form.Store` for
            ``subgame.top``; for fictitious play the regrets are the last best responses.
        crew: thread pool with scratch space.
    """

    def __init__(self, subgame: HoldemSubgame, ranges: Ranges, *, predicts: bool) -> None:
        """Start from the uniform policy.

        Raises:
            GameError: a range has hands that were not compiled.
        """
        self.subgame, whole, top = subgame, subgame.whole, subgame.top
        first, second = checked(subgame, ranges)
        self.ranges = first[None], second[None]
        self._hands = subgame.held(0), subgame.held(1)
        weights = np.concatenate([own_range[hands] for own_range, hands in zip((first, second), self._hands, strict=True)])
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
        """Convert an unnormalised policy to sequence form, float64 [Q] both."""
        strategy = np.zeros_like(policy)
        for player in (0, 1):
            self._write_sequence_form(player, policy, strategy)
        return strategy

    def _write_sequence_form(self, player: int, policy: Floats, strategy: Floats) -> None:
        """Write one player's part of a sequence form."""
        target, scales = self.store._replace(average=strategy), self.store.guess_scales
        self.crew.descend(player, policy, scales, target, keep=0.0, add=1.0, streets=self.subgame.streets)

    def accumulate(self, player: int, discount: float, weight: float, average: Floats, strategy: Floats) -> None:
        for part in self._own[player]:
            average[part] = discount * average[part] + weight * strategy[part]

    def reach_at_leaves(self, strategy: Floats) -> Ranges:
        ends = np.array(self.subgame.whole.forests[self.subgame.streets - 1].ends, np.int64).reshape(-1, 2)
        ends, reached = ends[self.subgame.open_ends], []
        for player, width in enumerate(self.subgame.leaves.widths):
            arrived = np.zeros((len(self.subgame.last_boards), len(ends), width))
            for board_reach, board, rows in zip(arrived, self.subgame.last_boards, self._rows(player, strategy), strict=True):
                board_reach[:, board.hands[player]] = rows[ends[:, player]]
            reached.append(arrived.reshape(-1, width))
        return tuple(reached)

    def _rows(self, player: int, strategy: Floats) -> list[Floats]:
        """A player's rows of reach, roots first, on every board of the last street before the cut."""
        form, top, above = self.crew.form, self.subgame.top, [self.ranges[player][0][self._hands[player]][None]]
        for street in range(self.subgame.streets):
            rows, first = [], top.first_boards[street]
            for number, board in enumerate(top.boards[street], start=first):
                start, count = int(form.boards[number, STORE + player]), int(form.boards[number, COUNT + player])
                actions = strategy[start : start + int(form.streets[street, ACTIONS + player]) * count].reshape(-1, count)
                roots = above[0] if street == 0 else above[board.parent][:, board.source[player]]
                rows.append(np.concatenate((roots, actions)))
            if street + 1 == self.subgame.streets:
                return rows
            ends = np.array(top.forests[street].ends, np.int64).reshape(-1, 2)[:, player]
            above = [reach[ends] for reach in rows]
        raise AssertionError

    def write_gradient(self, player: int, strategy: Floats) -> None:
        subgame, crew, store = self.subgame, self.crew, self.store
        self._against = strategy
        if self._last > 0:
            for owner in (0, 1):
                rows, part = rows_of(crew.form, crew.work, owner, 0), self._first_street(owner)
                rows[0] = self.ranges[owner][0][self._hands[owner]]
                rows[1:] = strategy[part].reshape(-1, rows.shape[1])
                crew.descend(owner, strategy, store.average_scales, store, first=1, streets=self._last)
        if subgame.streets <= self._last:
            empty = store.average[:0]
            crew.ascend(answer, player, EXPECT, empty, store.average_scales, store, first=subgame.streets)

    def _first_street(self, player: int) -> slice:
        """The slice of a player's numbers on the first board."""
        return board_part(self.subgame.top, 0, 0, player)

    def write_leaves(self, player: int, entries: Floats) -> None:
        crew, street, ends = self.crew, self.subgame.streets - 1, self.subgame.open_ends
        board_entries = entries.reshape(len(self.subgame.last_boards), len(ends), -1)
        for number, board in enumerate(self.subgame.last_boards):
            returned = rows_of(crew.form, crew.work, player, number, street=street, gathered=True)
            returned[ends] = board_entries[number][:, board.hands[player]]

    def improve(self, player: int, row: Weights) -> None:
        def step() -> None:
            self.crew.ascend(improve, player, self.store, np.array(row), 1.0, 0.0, streets=self.subgame.streets)

        if self.subgame.streets <= self._last:
            step()
            return
        others = self._own[1 - player]  # on the last street the kernel computes the others' reach from their policy
        policies = [self.policy[part].copy() for part in others]
        for part in others:
            self.policy[part] = self._against[part]
        step()
        for part, policy in zip(others, policies, strict=True):
            self.policy[part] = policy

    def respond(self, player: int) -> None:
        store, against = self.store, self._against
        self.crew.ascend(answer, player, REPLY, against, store.average_scales, store, streets=self.subgame.streets)

    def expect(self, player: int, strategy: Floats) -> None:
        """Compute a player's values if both follow a strategy [Q]; call after :meth:`write_gradient` and
        :meth:`write_leaves`.
        """
        store = self.store
        self.crew.ascend(answer, player, EXPECT, strategy, store.average_scales, store, streets=self.subgame.streets)

    def root_entries(self, player: int) -> Floats:
        entries = np.zeros((1, self.subgame.roots.widths[player]))
        entries[0, self._hands[player]] = self.crew.root_values(player)
        return entries

    def as_policy(self, strategy: Floats) -> Floats:
        return strategy.copy()


def checked(subgame: HoldemSubgame, ranges: Ranges) -> tuple[Floats, Floats]:
    """Ranges [1, H] normalised over the possible hands, float64 [H]."""
    game, board = subgame.game, subgame.state.board
    normalised = []
    for player, given in enumerate(ranges):
        weights, free = np.asarray(given, np.float64), game.free(board)
        can = np.zeros(len(free))
        can[subgame.held(player)] = 1.0
        if weights.shape != (1, *can.shape) or not (np.isfinite(weights) & (weights >= 0)).all() or not weights[0] @ can > 0:
            raise GameError(
                f"the range of player {player} must be {len(can)} numbers >= 0, with at least one hand of the subgame"
            )
        if ((weights[0] > 0) & (can == 0) & free).any():
            raise GameError(f"the range of player {player} has hands that were not compiled; compile the subgame with them")
        normalised.append(normalised_range(weights[0], can))
    return normalised[0], normalised[1]
