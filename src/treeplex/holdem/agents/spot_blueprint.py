"""A solved spot as a blueprint and as a policy over hands."""

from collections.abc import Hashable
from functools import cached_property, lru_cache
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.errors import AlgorithmError, GameError, PolicyError
from treeplex.games.base import CHANCE
from treeplex.games.public import PublicGame, State
from treeplex.holdem.betting.tree import Decision, StreetEnd
from treeplex.holdem.forms.suit_symmetry import IDENTITY, Renaming
from treeplex.holdem.policies.by_hand import Classes, HandPolicy, biased_hands
from treeplex.holdem.policies.node_values import HoldemValues, StreetValues, ratio
from treeplex.holdem.policies.spot_policy import HoldemPolicy
from treeplex.holdem.policies.view import Browser
from treeplex.holdem.rules.public import HoldemGame, HoldemState
from treeplex.search.subgames.beliefs import Belief


class At(NamedTuple):
    """A public state in a solved spot.

    Attributes:
        node: node of the spot's betting tree.
        tree: values on the betting tree of its street.
        board: index among all boards.
        hands: for each player int64, indices of the format's hands in the tree's order.
        given: gifts that the giver made along the path, per hand in the tree's order, in the game's units; zeros without
            a giver.
    """

    node: int
    tree: StreetValues
    board: int
    hands: tuple[NDArray[np.int64], NDArray[np.int64]]
    given: Floats


class SpotBlueprint:
    """A solved spot as a blueprint; the game played may have more bet sizes from some street on.

    Guaranteed values are exact: the opponent's best response to the whole solution is computed once per player.

    Attributes:
        policy_of_spot: the solution's policy on all streets.
        game: the spot as a game.
    """

    def __init__(self, policy: HoldemPolicy) -> None:
        """Wrap a policy.

        Raises:
            PolicyError: the policy was saved without its last streets.
        """
        policy.check_whole()
        self.policy_of_spot, self.game = policy, HoldemGame(policy.game.spot, policy.game.betting)

    def check(self, game: PublicGame, start: int, *, reach: bool = False) -> None:
        """Check that a game matches the blueprint; see :class:`treeplex.search.resolving.blueprint.Blueprint`."""
        blueprint_spot = self.game.spot
        if not isinstance(game, HoldemGame):
            raise PolicyError("a solved spot is a blueprint only for hold'em; give a policy for the current game")
        if (difference := other_field(game, self.game)) is not None:
            raise PolicyError(
                f"the blueprint is a solution of another spot: its {difference} differs; only bet sizes may differ"
            )
        if start >= len(blueprint_spot.streets):
            most = len(blueprint_spot.streets) - 1
            raise AlgorithmError(f"start is {start}; in this spot it must be at most {most}, the number of deals")

    @cached_property
    def _browser(self) -> Browser:
        return Browser(self.policy_of_spot.hand_values)

    @cached_property
    def _responding(self) -> tuple[Browser, Browser]:
        """For each player, the solution's values when the other player plays a best response."""
        first, second = (Browser(self.policy_of_spot.response_values(1 - player)) for player in (0, 1))
        return first, second

    def policy(self, game: PublicGame, path: tuple[int, ...]) -> Floats:
        """Return the policy of each hand at the end of a path, float64 [A, H]."""
        at, (here, there) = self._find(self._browser, game, path)
        event = self.game.event(there)
        assert isinstance(event, Decision)
        labels = game.options(here).labels
        table = np.full((len(labels), len(self.game.spot.format.hands)), 1.0 / len(labels))
        table[:, at.hands[event.player]] = 0.0
        for number, label in enumerate(labels):
            solution_action = action_in(game, here, label, self.game, there)
            if solution_action is not None:
                table[number, at.hands[event.player]] = at.tree.policy[at.node][solution_action]
        return table

    def belief(self, game: PublicGame, path: tuple[int, ...]) -> Belief:
        """Return the public belief state at the end of a path if both players follow the blueprint."""
        at, (here, _) = self._find(self._browser, game, path)
        ranges = np.zeros((2, len(self.game.spot.format.hands)))
        for range_there, hands, reach in zip(ranges, at.hands, at.tree.reach[at.node], strict=True):
            range_there[hands] = reach
        return Belief.of(game, here, list(ranges))

    def promised(self, game: PublicGame, path: tuple[int, ...], player: int, *, reach: bool = False) -> Floats:
        """Return the best-response value of each of the opponent's hands against the blueprint, float64 [H]."""
        browser, other = self._responding[player], 1 - player
        at, _ = self._find(browser, game, path, other if reach else None)
        met = browser.values.compatible(at.board, other, at.tree.reach[at.node][player])
        values = np.full(len(self.game.spot.format.hands), np.nan)
        values[at.hands[other]] = ratio(at.tree.values[at.node][other], met) + (at.given if reach else 0.0)
        return values

    def _find(
        self, browser: Browser, game: PublicGame, path: tuple[int, ...], giver: int | None = None
    ) -> tuple[At, tuple[State, HoldemState]]:
        """Follow a path through the solution; return its end in the solution, and the state in each game.

        Args:
            browser: values of the solution.
            game, path: the game and the path.
            giver: player whose gifts are computed, see :func:`treeplex.search.resolving.resolved.gifts`; None for
                neither.

        Raises:
            AlgorithmError: the path has a bet that the solution lacks.
        """
        values: HoldemValues = browser.values
        here, there = game.first_state(), self.game.first_state()
        street, board_index, renaming = 0, 0, IDENTITY
        tree = values.tree(street, board_index, there.node, values.root_reach())
        given = np.zeros(len(tree.reach[there.node][giver or 0]))
        for label in path:
            before, event = there, self.game.event(there)
            if game.options(here).player == CHANCE:
                there = self.game.after(there, label)
                assert isinstance(event, StreetEnd)
                street += 1
                board_index, renaming = browser.dealt(street, board_index, renaming, there.board[len(before.board) :])
                reach = values.below(street, board_index, tree.reach[before.node])
                tree = values.tree(street, board_index, there.node, reach)
                given = given[self.policy_of_spot.game.boards[street][board_index].source[giver or 0]]
            else:
                solution_action = action_in(game, here, label, self.game, there)
                if solution_action is None:
                    raise AlgorithmError(f"the blueprint lacks a bet made at {game.name_of(here)}; start solving earlier")
                there = self.game.after(there, solution_action)
                if isinstance(event, Decision) and event.player == giver:
                    best = np.max([tree.values[child][giver] for child in event.children], axis=0)
                    number = values.board_number(street, board_index)
                    met = values.compatible(number, giver, tree.reach[there.node][1 - giver])
                    given = given + np.nan_to_num(ratio(best - tree.values[there.node][giver], met))
            here = game.after(here, label)
        back = cast(Renaming, tuple(renaming.index(suit) for suit in range(4)))
        lists = self.policy_of_spot.game.boards[street][board_index].hands
        names = browser.maps.map(back).astype(np.int64)
        number = values.board_number(street, board_index)
        return At(there.node, tree, number, (names[lists[0]], names[lists[1]]), given), (here, there)


class SpotHands:
    """A solved spot as a :class:`treeplex.holdem.policies.by_hand.HandPolicy`, in which every hand on every board is a class.

    Attributes:
        game: the spot.
    """

    def __init__(self, policy: HoldemPolicy) -> None:
        """Wrap a policy.

        Raises:
            PolicyError: the policy was saved without its last streets.
        """
        policy.check_whole()
        self.game = HoldemGame(policy.game.spot, policy.game.betting)
        self._browser = Browser(policy.hand_values)
        self._everyone = np.arange(len(self.game.spot.format.hands))
        self._place = lru_cache(maxsize=64)(self._find)

    def classes(self, board: tuple[int, ...]) -> Classes:
        """Return the classes of hands on a board: one class per hand."""
        return Classes(board, len(self._everyone), self._everyone)

    def table(self, node: int, name: Hashable) -> Floats:
        """Return the policy of each hand at a decision of the betting tree, float64 [A, H]."""
        event = self.game.tree.nodes[node]
        assert isinstance(event, Decision)
        street, number, hands = self._place(name)
        table = np.full((len(event.actions), len(self._everyone)), 1.0 / len(event.actions))
        table[:, hands[event.player]] = self._browser.values.policy(street, number, node)
        return table

    def biased(self, factor: float = 10.0) -> list[HandPolicy]:
        """Return the policy, and copies biased towards folding, calling and raising."""
        return biased_hands(self, factor)

    def _find(self, board: tuple[int, ...]) -> tuple[int, int, list[NDArray[np.int64]]]:
        """Return the street of a board, the index of its representative, and each player's hands in that representative's
        order.
        """
        spot, values = self.game.spot, self._browser.values
        street, board_index, renaming, size = 0, 0, IDENTITY, len(spot.board)
        while size < len(board):
            street, dealt = street + 1, spot.format.deal[spot.street + street + 1]
            board_index, renaming = self._browser.dealt(street, board_index, renaming, board[size : size + dealt])
            size += dealt
        back = cast(Renaming, tuple(renaming.index(suit) for suit in range(4)))
        names = self._browser.maps.map(back).astype(np.int64)
        return (
            street,
            values.board_number(street, board_index),
            [names[hands] for hands in values.game.boards[street][board_index].hands],
        )


def action_in(game: PublicGame, here: State, label: int, other: HoldemGame, there: HoldemState) -> int | None:
    """The label of the same action in another version of the game; None if that version lacks it."""
    try:
        return game.label_in(here, label, other, there)
    except GameError:
        return None


def other_field(game: HoldemGame, blueprint: HoldemGame) -> str | None:
    """The first field other than bets in which two spots differ; None if there is none."""
    mine, theirs = game.spot, blueprint.spot
    for name in ("board", "pot", "stack", "rake", "blinds", "format"):
        if getattr(mine, name) != getattr(theirs, name):
            return name
    same = all(np.array_equal(weights, other) for weights, other in zip(mine.ranges, theirs.ranges, strict=True))
    return None if same else "ranges"
