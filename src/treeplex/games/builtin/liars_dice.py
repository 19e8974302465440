"""Liar's Dice: bidding on all players' dice.

Every player rolls dice in secret. In turn, player 0 first, each bids a quantity and a face ("at least that many dice show it"),
higher than the bid before (by quantity, then by face), or calls "Liar". The highest face is wild: it counts as every face.
After a call the dice are shown: if the bid holds, its bidder wins 1 and the caller loses 1; else the other way round.

Bid number ``(quantity - 1) * dice_sides + face - 1``; the last number is the call. Rules, numbers and infostates are those
of OpenSpiel's two-player ``liars_dice`` (bidding rule ``reset-face``), extended to more players.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import combinations_with_replacement
from math import comb, factorial, prod

import numpy as np
from numpy.typing import NDArray

from treeplex.base.spec import nearest
from treeplex.errors import SpecError
from treeplex.games.base import CHANCE, TERMINAL, CheckedState, Game
from treeplex.games.parameters import GameInfo, integer, observer
from treeplex.games.public import Chance, Decision, PublicTree, Terminal, check_entries, pair_state
from treeplex.games.public import State as PublicGameState


class LiarsDiceState(CheckedState):
    """The dice rolled so far (player 0's first; sorted per player once all are rolled) and the bids."""

    __slots__ = ("bids", "dice", "game")

    def __init__(self, game: "LiarsDice", dice: tuple[int, ...] = (), bids: tuple[int, ...] = ()) -> None:
        self.game = game
        self.dice = dice
        self.bids = bids

    def current_player(self) -> int:
        if len(self.dice) < self.game.total_dice:
            return CHANCE
        return self.game.bidder(self.bids)

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        if len(self.dice) < self.game.total_dice:
            return range(self.game.dice_sides)
        return self.game.actions(self.bids)

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        return self.game.roll_outcomes

    def after(self, action: int) -> "LiarsDiceState":
        game = self.game
        if len(self.dice) == game.total_dice:
            return LiarsDiceState(game, self.dice, (*self.bids, action))
        dice = (*self.dice, action + 1)
        if len(dice) == game.total_dice:
            dice = tuple(die for seat in game.seats for die in sorted(dice[seat]))
        return LiarsDiceState(game, dice)

    def returns(self) -> Sequence[float]:
        quantity, face = self.game.bid(self.bids[-2])
        matches = sum(die in (face, self.game.dice_sides) for die in self.dice)
        caller = (len(self.bids) - 1) % self.game.num_players
        bidder = (len(self.bids) - 2) % self.game.num_players
        payoffs = [0.0] * self.game.num_players
        payoffs[bidder], payoffs[caller] = (1.0, -1.0) if matches >= quantity else (-1.0, 1.0)
        return payoffs

    def information_state_string(self, player: int | None = None) -> str:
        seat = self.game.seats[observer(self, player)]
        rolled = self.dice[seat]
        return self.game.text((*rolled, *[-1] * (seat.stop - seat.start - len(rolled))), self.bids)

    def hand_name(self, player: int) -> str | None:
        return " ".join(map(str, self.dice[self.game.seats[player]]))

    def public_state(self) -> Hashable:
        return self.bids

    def action_to_string(self, action: int) -> str:
        if len(self.dice) < self.game.total_dice:
            return f"Roll {action + 1}"
        return self.game.names[action]


class LiarsDice(Game):
    """Liar's Dice; see the module for the rules. ``num_dice`` has one number per player."""

    def __init__(self, num_dice: Sequence[int], dice_sides: int, parameters: Mapping[str, object]) -> None:
        self.num_players = len(num_dice)
        self.num_dice = tuple(num_dice)
        self.dice_sides = dice_sides
        self.total_dice = sum(num_dice)
        ends = np.cumsum(num_dice).tolist()
        self.seats = [slice(end - dice, end) for end, dice in zip(ends, num_dice, strict=True)]
        self.liar = self.total_dice * dice_sides
        self.roll_outcomes = [(face, 1 / dice_sides) for face in range(dice_sides)]
        self.names = ["{}-{}".format(*self.bid(number)) for number in range(self.liar)] + ["Liar"]
        self.spec = INFO.spec(parameters)
        self._parameters = dict(parameters)

    def new_initial_state(self) -> LiarsDiceState:
        return LiarsDiceState(self)

    def parameters(self) -> Mapping[str, object]:
        return self._parameters

    def public_tree(self) -> "LiarsDicePublicTree | None":
        return LiarsDicePublicTree(self) if self.num_players == 2 else None

    def numba_rules(self) -> object | None:
        from treeplex.games.integers.liars_dice import liars_dice_rules

        return liars_dice_rules(self.num_dice, self.dice_sides)

    def bid(self, number: int) -> tuple[int, int]:
        """Return the quantity and the face of a bid."""
        quantity, face = divmod(number, self.dice_sides)
        return quantity + 1, face + 1

    def bidder(self, bids: Sequence[int]) -> int:
        """Return the player to act after these bids."""
        return TERMINAL if bids and bids[-1] == self.liar else len(bids) % self.num_players

    def actions(self, bids: Sequence[int]) -> Sequence[int]:
        """Return the higher bids, and the call after the first bid."""
        if not bids:
            return range(self.liar)
        return range(bids[-1] + 1, self.liar + 1)

    def text(self, dice: Sequence[int], bids: Sequence[int]) -> str:
        """Return the infostate of a player with these dice."""
        return " ".join(["".join(map(str, dice)), *[self.names[bid] for bid in bids]])


class LiarsDicePublicTree(PublicTree):
    """Two-player Liar's Dice as public-tree rules: nodes are bids so far, hands are sorted dice.

    ``hands[player]`` lists the hands of a player; different rolls of the same dice are one hand.
    """

    def __init__(self, game: LiarsDice) -> None:
        self.game = game
        check_entries(game.spec, prod(comb(game.dice_sides + dice - 1, dice) for dice in game.num_dice) * game.liar)
        faces = range(1, game.dice_sides + 1)
        self.hands = [list(combinations_with_replacement(faces, dice)) for dice in game.num_dice]
        first, second = (np.array([rolls(hand) for hand in hands], dtype=np.int64) for hands in self.hands)
        self.deals: NDArray[np.int64] = np.outer(first, second)
        self.prior = self.deals / self.deals.sum()
        self.root: tuple[int, ...] = ()
        self.deal_histories = sum(game.dice_sides**rolled for rolled in range(game.total_dice))
        self.deal_depth = game.total_dice
        self._held: dict[int, NDArray[np.float64]] = {}

    def _bid_holds(self, number: int) -> NDArray[np.float64]:
        """Return 1 where the bid holds and -1 where it fails, [hand of player 0, hand of player 1]."""
        if number not in self._held:
            quantity, face = self.game.bid(number)
            first, second = (
                np.array([sum(die in (face, self.game.dice_sides) for die in hand) for hand in hands]) for hands in self.hands
            )
            self._held[number] = np.where(first[:, None] + second[None, :] >= quantity, 1.0, -1.0)
        return self._held[number]

    def visit(self, node: Hashable) -> Decision | Chance | Terminal:
        assert isinstance(node, tuple)
        player = self.game.bidder(node)
        if player != TERMINAL:
            return Decision(player, self.game.actions(node))
        return Terminal(self._bid_holds(node[-2]), 1.0 if len(node) % 2 == 0 else -1.0)

    def child(self, node: Hashable, action: int) -> tuple[int, ...]:
        assert isinstance(node, tuple)
        return (*node, action)

    def future(self, node: Hashable) -> Hashable:
        """Return the player to act and the last bid; after a call, the bid that was called."""
        assert isinstance(node, tuple)
        return len(node) % 2, node[-2:] if node[-1:] == (self.game.liar,) else node[-1:]

    def features(self, node: Hashable) -> NDArray[np.float64]:
        """Return a one-hot vector of the last bid, with entries for ``liar`` and for no bid."""
        assert isinstance(node, tuple)
        last: NDArray[np.float64] = np.zeros(self.game.liar + 1)
        last[node[-1] if node else self.game.liar] = 1.0
        return last

    def infostate(self, node: Hashable, player: int, hand: int) -> str:
        assert isinstance(node, tuple)
        return self.game.text(self.hands[player][hand], node)

    def history_at(self, state: PublicGameState, hands: Sequence[int]) -> LiarsDiceState:
        bids = pair_state(state).node
        assert isinstance(bids, tuple)
        dice = tuple(die for player, hand in enumerate(hands) for die in self.hands[player][hand])
        return LiarsDiceState(self.game, dice, bids)

    def action_to_string(self, node: Hashable, action: int) -> str:
        return self.game.names[action]


def rolls(hand: Sequence[int]) -> int:
    """Return the number of ordered rolls that make up this hand."""
    return factorial(len(hand)) // prod(factorial(count) for count in Counter(hand).values())


def liars_dice(*, players: int = 2, numdice: int = 1, dice_sides: int = 6, **others: int) -> LiarsDice:
    """Liar's Dice; see the module for the rules. The winner of a call gets 1, the loser -1.

    ``numdice0=2`` sets the dice of one player. ``dice`` and ``faces`` are aliases of ``numdice`` and ``dice_sides``.

    Raises:
        SpecError: an unknown parameter, or a value outside its range.
    """
    if ("dice" in others and numdice != 1) or ("faces" in others and dice_sides != 6):
        raise SpecError("liars_dice: dice and faces are aliases of numdice and dice_sides; give only one of each pair")
    players = integer("liars_dice", "players", players, 2, MOST_PLAYERS)
    numdice = integer("liars_dice", "numdice", others.pop("dice", numdice), 1, MOST_DICE)
    dice_sides = integer("liars_dice", "dice_sides", others.pop("faces", dice_sides), 1, MOST_SIDES)
    names_of_dice = [f"numdice{player}" for player in range(players)]
    for name in others:
        if name not in names_of_dice:
            raise SpecError(f"liars_dice for {players} players has no parameter {name!r}{nearest(name, names_of_dice)}")
    num_dice = [integer("liars_dice", name, others.get(name, numdice), 1, MOST_DICE) for name in names_of_dice]
    parameters: dict[str, object] = {"players": players, "numdice": num_dice[0], "dice_sides": dice_sides}
    if len(set(num_dice)) > 1:
        parameters["numdice"] = 1
        parameters |= {name: dice for name, dice in zip(names_of_dice, num_dice, strict=True) if dice != 1}
    return LiarsDice(num_dice, dice_sides, parameters)


MOST_PLAYERS, MOST_DICE, MOST_SIDES = 10, 99, 99

INFO = GameInfo(
    name="liars_dice",
    summary="bid on everybody's dice or call the bluff; the highest face is wild",
    source="OpenSpiel liars_dice",
    build=liars_dice,
    meanings={
        "players": f"number of players, 2 to {MOST_PLAYERS}",
        "numdice": "dice per player",
        "dice_sides": "faces of a die; the highest is wild",
    },
    optional={
        **{f"numdice{player}": f"dice of player {player} (default: numdice)" for player in range(MOST_PLAYERS)},
        "dice": "alias of numdice",
        "faces": "alias of dice_sides",
    },
)
