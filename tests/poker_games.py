"""Small poker spots, and the hold'em engine and enumerated rules seen through one pair of glasses."""

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import permutations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.compile.walk import compile_rules
from treeplex.forms.policies.tabular import Policy, normalised
from treeplex.holdem.betting.bet_plan import BetPlan, FixedLimit
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.format import Format, small
from treeplex.holdem.engine.form import COUNT, INFOSETS, PARENT, STORE
from treeplex.holdem.forms.compile_spot import CompiledSpot, compile_spot
from treeplex.holdem.rules.rules import PokerGame
from treeplex.holdem.spots.spot import Rake, Spot

Suits = tuple[int, int, int, int]


def random_ranges(form: Format, seed: int, *, keep: float = 1.0) -> tuple[Floats, Floats]:
    """Weights in (0.2, 1), for a share ``keep`` of the hands of each player."""
    generator = np.random.default_rng(seed)
    size = len(form.hands)
    first, second = ((0.2 + 0.8 * generator.random(size)) * (generator.random(size) < keep) for _ in range(2))
    return first, second


def renamed_hands(form: Format, suits: Suits) -> Ints:
    """The hand that each hand becomes when suit s becomes ``suits[s]``, one by one."""
    place = {frozenset(map(int, hand)): index for index, hand in enumerate(form.hands)}
    return np.array([place[frozenset(card - card % 4 + suits[card % 4] for card in map(int, hand))] for hand in form.hands])


def symmetric_ranges(form: Format, seed: int, group: tuple[Suits, ...]) -> tuple[Floats, Floats]:
    """Random weights that do not change under a group of renamings of suits, the identity included in the group."""
    first, second = (sum(weights[renamed_hands(form, suits)] for suits in group) for weights in random_ranges(form, seed))
    return np.round(first, 9), np.round(second, 9)


class Place(NamedTuple):
    """One decision of a player on one board: where its numbers are in the rules' arrays and in the engine's.

    Attributes:
        player: who acts.
        board: number of the board in ``form.boards``.
        node: row among the player's own nodes of the street.
        kept: [n], positions of the hands among the player's hands there; those that no opponent's hand fits are left out.
        sequences, stored: [A, n], of the rules and in the stored arrays.
        infosets, counted: [n], infosets of the rules and places in the engine's arrays of infosets.
        weights: [n], range weights.
        chance: the probability of the cards dealt so far, given both hands.
    """

    player: int
    board: int
    node: int
    kept: Ints
    sequences: Ints
    stored: Ints
    infosets: Ints
    counted: Ints
    weights: Floats
    chance: float


@dataclass(frozen=True, eq=False)
class Both:
    """One spot for both engines."""

    spot: Spot

    @cached_property
    def hands(self) -> CompiledSpot:
        """Compiled for the hold'em engine, without isomorphism."""
        return compile_spot(self.spot, isomorphism=False)

    @cached_property
    def folded(self) -> CompiledSpot:
        """Compiled with isomorphism."""
        return compile_spot(self.spot, isomorphism=True)

    @cached_property
    def rules(self) -> PokerGame:
        """The enumerated rules."""
        return PokerGame(self.spot, "spot")

    @cached_property
    def compiled(self) -> CompiledGame:
        """The rules, walked history by history."""
        return compile_rules(self.rules)

    @cached_property
    def places(self) -> list[Place]:
        """Every decision of every player on every board."""
        game, lookup, found = self.hands, self.compiled.lookup, []
        chances = game.form.factors.copy()
        for number, row in enumerate(game.form.boards[1:], start=1):
            chances[number] *= chances[row[PARENT]]
        for street, forest in enumerate(game.forests):
            for number, board in enumerate(game.boards[street], start=game.first_boards[street]):
                row = game.form.boards[number]
                for player in (0, 1):
                    hands, count = board.hands[player], int(row[COUNT + player])
                    for x, ((_, first, actions), node) in enumerate(
                        zip(forest.nodes[player], forest.numbers[player], strict=True)
                    ):
                        keys = [(player, self.rules.infostate(player, hand, player, node, board.cards)) for hand in hands]
                        kept = np.array([j for j, key in enumerate(keys) if key in lookup], np.int64)
                        if not kept.size:
                            continue
                        infosets = np.array([lookup[keys[j]] for j in kept])
                        sequences = np.array([self.compiled.sequences_at(infoset) for infoset in infosets]).T
                        stored = row[STORE + player] + (first + np.arange(actions)[:, None]) * count + kept
                        counted = row[INFOSETS + player] + x * count + kept
                        weights = self.spot.ranges[player][hands[kept]]
                        found.append(
                            Place(
                                player, number, x, kept, sequences, stored, infosets, counted, weights, float(chances[number])
                            )
                        )
        return found

    def regrets(self, stored: NDArray[np.floating]) -> Floats:
        """Regrets of the hold'em engine in the rules' units: times range weight and chance, over the weight of all pairs."""
        values = np.zeros(int(self.compiled.tree.sequence_offsets[-1]))
        for place in self.places:
            values[place.sequences] = stored[place.stored] * (place.weights * place.chance / self.hands.compatible)
        return values

    def changes(self, stored: NDArray[np.floating]) -> Floats:
        """Squared changes [2, I] in the rules' units."""
        values = np.zeros((2, len(self.compiled.infostates)))
        for place in self.places:
            scale = (place.weights * place.chance / self.hands.compatible) ** 2
            values[:, place.infosets] = stored[:, place.counted] * scale
        return values

    def sequence_form(self, average: NDArray[np.floating]) -> Floats:
        """An average of the hold'em engine as weights of the rules' sequences: without range weights, 0 for empty sequences."""
        weights = np.zeros(int(self.compiled.tree.sequence_offsets[-1]))
        for place in self.places:
            weights[place.sequences] = average[place.stored] / place.weights
        return weights

    def policy(self, average: NDArray[np.floating]) -> Policy:
        """An average of the hold'em engine as a policy for the rules."""
        return Policy(self.compiled, normalised(self.compiled, self.sequence_form(average)))


class Runout(NamedTuple):
    """A board and what stands for it: the number of a stored board and the renaming of suits that leads from there to here."""

    cards: tuple[int, ...]
    board: int
    suits: tuple[int, ...]


def composed(second: tuple[int, ...], first: tuple[int, ...]) -> tuple[int, ...]:
    """The renaming that does ``first`` and then ``second``."""
    return tuple(second[suit] for suit in first)


def unfolded(game: CompiledSpot) -> list[list[Runout]]:
    """All boards of each street that the stored ones stand for, by walking down: each copy has its own boards below."""
    streets = [[Runout(game.spot.board, 0, (0, 1, 2, 3))]]
    for street in range(1, len(game.boards)):
        below = []
        for above in streets[-1]:
            parent = game.boards[street - 1][above.board]
            for child in parent.children:
                board = game.boards[street][child]
                for copy in board.copies:
                    suits = composed(above.suits, copy)
                    cards = tuple(card - card % 4 + suits[card % 4] for card in board.cards)
                    below.append(Runout(cards, child, suits))
        streets.append(below)
    return streets


def unfold(folded: CompiledSpot, whole: CompiledSpot, stored: NDArray[np.floating]) -> NDArray[np.floating]:
    """A stored array of a spot compiled with isomorphism as that of the same spot compiled without."""
    found = np.full(whole.stored, np.nan, stored.dtype)
    for street, boards in enumerate(unfolded(folded)):
        sizes = folded.spot.format.board_sizes[folded.spot.street : folded.spot.street + street + 1]
        numbers = {dealt(board.cards, sizes): number for number, board in enumerate(whole.boards[street])}
        for each in boards:
            there = numbers[dealt(each.cards, sizes)]
            source = folded.form.boards[folded.first_boards[street] + each.board]
            target = whole.form.boards[whole.first_boards[street] + there]
            for player in (0, 1):
                hands = folded.boards[street][each.board].hands[player]
                image = renamed_hands(folded.spot.format, each.suits)[hands]
                own = whole.boards[street][there].hands[player]
                place = {int(hand): j for j, hand in enumerate(own)}
                count, actions = len(hands), folded.forests[street].actions[player]
                values = stored[source[STORE + player] :][: actions * count].reshape(actions, count)
                out = found[target[STORE + player] :][: actions * count].reshape(actions, count)
                out[:, [place[int(hand)] for hand in image]] = values
    return found


def dealt(cards: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[frozenset[int], ...]:
    """A board as the sets of cards that its streets dealt."""
    return tuple(frozenset(cards[start:end]) for start, end in zip((0, *sizes), sizes, strict=False))


def limit(*bets: float, most: int = 2) -> FixedLimit:
    """Fixed limit with the same number of bets on every street."""
    return FixedLimit(bets, (most,) * len(bets))


def no_limit(streets: int) -> BetPlan:
    """Half the pot or all-in, raises a little larger."""
    return BetPlan.same("50%,a", "60%,a", streets=streets)


ONE_STREET, LEDUC, THREE_SUITS = small(deal=(0,)), small(), small(ranks=4, suits=3)
THREE_STREETS = small(ranks=3, suits=2, deal=(0, 1, 1))
PAIRS, TWO_CARDS = small(ranks=4, suits=2, hole=2, deal=(0, 3)), small(ranks=3, suits=3, hole=2, deal=(0, 2, 1))

SPOTS = {
    "one card": Spot((), 3, 7, random_ranges(ONE_STREET, 0), limit(2), format=ONE_STREET),
    "leduc": Spot((), 2, 100, random_ranges(LEDUC, 1, keep=0.7), limit(2, 4), format=LEDUC),
    "no limit": Spot((), 4, 9, random_ranges(THREE_SUITS, 2, keep=0.8), no_limit(2), format=THREE_SUITS),
    "blinds": Spot((), 0, 8, random_ranges(LEDUC, 9), no_limit(2), Rake(0.04), LEDUC, blinds=(1, 2)),
    "three streets": Spot((), 2, 9, random_ranges(THREE_STREETS, 4), limit(1, 2, 3, most=1), Rake(0.1, 0.7), THREE_STREETS),
    "river": Spot(parse_cards("AcKdQc"), 5, 12, random_ranges(PAIRS, 6, keep=0.8), no_limit(2), format=PAIRS),
    "river, raked": Spot(parse_cards("AcKdQc"), 5, 12, random_ranges(PAIRS, 7), no_limit(2), Rake(0.1, 0.7), PAIRS),
    "turn": Spot(parse_cards("AcKd"), 4, 6, random_ranges(TWO_CARDS, 8, keep=0.5), no_limit(3), format=TWO_CARDS),
    "deal": Spot((), 2, 20, random_ranges(TWO_CARDS, 3, keep=0.17), limit(1, 2, 2, most=1), format=TWO_CARDS),
}
"""Spots with different hole cards, streets, betting, ranges and rake, small enough to enumerate."""

SWAP: tuple[Suits, ...] = ((0, 1, 2, 3), (0, 2, 1, 3))
THREE: tuple[Suits, ...] = tuple((0, *rest) for rest in permutations((1, 2, 3)))  # type: ignore[misc]
PAIRWISE: tuple[Suits, ...] = ((0, 1, 2, 3), (1, 0, 2, 3), (0, 1, 3, 2), (1, 0, 3, 2))
FOUR_SUITS, FLOP = small(ranks=2, suits=4, deal=(0, 1, 1)), small(ranks=3, suits=3, hole=2, deal=(1, 1, 1))
TWO_AT_ONCE = small(ranks=2, suits=4, deal=(1, 2, 1))

SYMMETRIC = {
    "two suits alike": Spot(parse_cards("Ac"), 4, 7, symmetric_ranges(FLOP, 0, SWAP), no_limit(3), format=FLOP),
    "three suits alike": Spot(
        parse_cards("Ac"), 4, 9, symmetric_ranges(TWO_AT_ONCE, 1, THREE), no_limit(3), format=TWO_AT_ONCE
    ),
    "suits alike in pairs": Spot((), 4, 50, symmetric_ranges(FOUR_SUITS, 2, PAIRWISE), limit(2, 2, 4), Rake(0.05), FOUR_SUITS),
    "all suits alike": Spot((), 4, 9, (np.ones(8), np.ones(8) / 2), no_limit(3), Rake(0.1), FOUR_SUITS),
}
"""Spots with symmetric suits."""


@cache
def both(name: str) -> Both:
    """One of :data:`SPOTS` or :data:`SYMMETRIC`, compiled once for all tests."""
    return Both((SPOTS | SYMMETRIC)[name])
