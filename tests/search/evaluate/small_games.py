"""Brute force for poker on small decks: every deal and every line of betting, settled by rules that are written out here.

Of the product only three things are used: the actions on offer, who acts, and the order in which hands are numbered. Chips,
pots, rake, strengths and probabilities are counted here.
"""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, permutations
from typing import Any
from zlib import crc32

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.forms.sources.load import load
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import State
from treeplex.holdem.whole.public import PublicHoldem
from treeplex.search.agents.agent import BaseAgent
from treeplex.search.subgames.beliefs import Belief

FOLD, CALL = 0, 1


@dataclass(frozen=True)
class Rules:
    """A game on a small deck; the fields are the parameters of ``holdem``, antes a list where they are dead."""

    stacks: tuple[int, ...]
    blinds: tuple[int, ...]
    ante: int | tuple[int, ...]
    dealer: int
    ranks: int
    suits: int
    hole: int
    deal: tuple[int, ...]
    sizes: tuple[str, ...]
    rake: float
    cap: float
    no_flop_no_drop: bool
    rules: str

    @property
    def spec(self) -> str:
        """The game's name."""

        def listed(values: Sequence[object]) -> str:
            return f"[{';'.join(map(str, values))}]"

        ante = self.ante if isinstance(self.ante, int) else listed(self.ante)
        return (
            f"holdem(players={len(self.stacks)},stack={listed(self.stacks)},blinds={listed(self.blinds)},ante={ante},"
            f"dealer={self.dealer},ranks={self.ranks},suits={self.suits},hole={self.hole},deal={listed(self.deal)},"
            f"sizes={listed(self.sizes)},rake={self.rake},rake_cap={self.cap},"
            f"no_flop_no_drop={str(self.no_flop_no_drop).lower()},rules={self.rules})"
        )

    @property
    def deck(self) -> list[int]:
        """The cards: the highest ranks, and the first suits of each."""
        return [4 * rank + suit for rank in range(13 - self.ranks, 13) for suit in range(self.suits)]

    def by_seat(self, amounts: Sequence[int]) -> list[int]:
        """Amounts by position, the small blind first, as amounts by player."""
        players = len(self.stacks)
        first = self.dealer if players == 2 else self.dealer + 1
        found = [0] * players
        for position, amount in enumerate(amounts):
            found[(first + position) % players] = amount
        return found


@dataclass(frozen=True)
class Hand:
    """A hand in play: the chips that each player has put in besides the ante, and the cards on the table."""

    put: tuple[int, ...]
    folded: tuple[bool, ...]
    faced: int
    board: tuple[int, ...] = ()


class Table:
    """Settles hands of a game, and follows its betting."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        dead = not isinstance(rules.ante, int)
        asked = rules.by_seat(rules.ante) if isinstance(rules.ante, tuple) else [rules.ante] * len(rules.stacks)
        self.antes = [min(ante, stack) for ante, stack in zip(asked, rules.stacks, strict=True)]
        self.stacks = [stack - ante for stack, ante in zip(rules.stacks, self.antes, strict=True)]
        self.dead = sum(self.antes) if dead else 0
        self.live = [0] * len(self.antes) if dead else self.antes
        self.hands = list(combinations(rules.deck, rules.hole))
        players = range(len(rules.stacks))
        numbered = list(enumerate(self.hands))
        self.deals = np.array(
            [
                [number for number, _ in chosen]
                for chosen in permutations(numbered, len(players))
                if len({card for _, cards in chosen for card in cards}) == rules.hole * len(players)
            ]
        )
        held = [{card for number in deal for card in self.hands[number]} for deal in self.deals.tolist()]
        self.lacks = {card: np.array([float(card not in cards) for cards in held]) for card in rules.deck}
        self.payoffs = lru_cache(maxsize=None)(self._payoffs)
        self.orders = lru_cache(maxsize=None)(self._orders)
        self.checked_down = lru_cache(maxsize=None)(self._checked_down)

    def first(self) -> Hand:
        """After the blinds. Card rooms ask callers for the whole blind, as far as two players can pay it."""
        put = tuple(map(min, self.rules.by_seat(self.rules.blinds), self.stacks))
        faced = max(put)
        if self.rules.rules == "tda":
            faced = max(faced, min(max(self.rules.blinds), sorted(self.stacks)[-2]))
        return Hand(put, (False,) * len(put), faced)

    def after(self, hand: Hand, player: int, label: int) -> Hand:
        """After a card (``player`` is chance) or an action."""
        if player == CHANCE:
            return replace(hand, board=(*hand.board, label))
        put, folded = list(hand.put), list(hand.folded)
        if label == FOLD:
            folded[player] = True
        else:
            put[player] = label if label > CALL else max(put[player], min(hand.faced, self.stacks[player]))
        return Hand(tuple(put), tuple(folded), max(hand.faced, put[player]), hand.board)

    def called(self, hand: Hand) -> Hand:
        """The hand once all who are in have called what they face."""
        for player, out in enumerate(hand.folded):
            hand = hand if out else self.after(hand, player, CALL)
        return hand

    def most(self, hand: Hand, player: int) -> int:
        """The most chips of a player that another player has matched or still can, a dead ante aside."""
        return max(
            (hand.put[other] if hand.folded[other] else self.stacks[other]) + self.live[other]
            for other in range(len(hand.put))
            if other != player
        )

    def strength(self, cards: tuple[int, ...]) -> list[tuple[int, int]]:
        """Larger is better: of up to four cards, pairs and the like and then the ranks count."""
        assert len(cards) <= 4
        ranks = [card // 4 for card in cards]
        return sorted(((ranks.count(rank), rank) for rank in set(ranks)), reverse=True)

    def _orders(self, board: tuple[int, ...]) -> tuple[list[tuple[int, ...]], Ints]:
        """In which orders of strength hands can be on a complete board, more is better; and each deal's number, int64 [D]."""
        found, number = dict[tuple[int, ...], int](), []
        strengths = [self.strength((*board, *hand)) for hand in self.hands]
        places = [sorted(strengths).index(strength) for strength in strengths]
        for deal in self.deals.tolist():
            held = [places[hand] for hand in deal]
            number.append(found.setdefault(tuple(sorted(held).index(place) for place in held), len(found)))
        return list(found), np.array(number)

    def rake(self, hand: Hand) -> float:
        """What the house takes where a hand ends so."""
        chips = self._matched(hand)
        shown = hand.folded.count(False) > 1 or hand.board
        pot = sum(chips) + self.dead
        rules = self.rules
        return 0.0 if rules.no_flop_no_drop and not shown else min(rules.rake * pot, rules.cap or np.inf)

    def _matched(self, hand: Hand) -> list[int]:
        """Chips of each player, dead antes aside, once what nobody called is given back."""
        chips = [put + ante for put, ante in zip(hand.put, self.live, strict=True)]
        *_, second, most = sorted(chips)
        return [min(own, second) if own == most else own for own in chips]

    def _payoffs(self, hand: Hand, order: tuple[int, ...], split: bool) -> list[float]:
        """What each player wins where a hand ends so.

        Chips are shared out layer by layer: of each layer everybody who paid that much put in one chip, and the best of those
        who are still in get it.

        Args:
            hand: the end.
            order: strengths of the players' hands.
            split: whether chips are cut into parts; else the first winner after the dealer gets odd ones, if rules say so.
        """
        chips, players = self._matched(hand), range(len(hand.put))
        pots = {tuple(player for player in players if not hand.folded[player]): self.dead}
        for layer in range(1, max(chips) + 1):
            able = tuple(player for player in players if not hand.folded[player] and chips[player] >= layer)
            pots[able] = pots.get(able, 0) + sum(own >= layer for own in chips)
        assert () not in pots
        taken = [0.0] * len(chips)
        for able, chips_in in pots.items():
            best = [player for player in able if order[player] == max(order[other] for other in able)]
            share = chips_in / len(best)
            if self.rules.rules == "tda" and not split:
                share = chips_in // len(best)
                first = min(best, key=lambda player: (player - self.rules.dealer - 1) % len(chips))
                taken[first] += chips_in % len(best)
            for player in best:
                taken[player] += share
        pot = sum(pots.values())
        kept = 1.0 - self.rake(hand) / pot if pot else 1.0
        dead = self.antes if self.dead else [0] * len(chips)
        return [kept * won - own - ante for won, own, ante in zip(taken, chips, dead, strict=True)]

    def settled(self, hand: Hand, *, split: bool) -> Floats:
        """What every deal pays where a hand ends so, on a complete board or after a fold, float64 [D, N]."""
        if hand.folded.count(False) == 1:
            return np.tile(self.payoffs(hand, (0,) * len(hand.put), split), (len(self.deals), 1))
        orders, number = self.orders(tuple(sorted(hand.board)))
        return np.array([self.payoffs(hand, order, split) for order in orders])[number]

    def without(self, cards: Sequence[int]) -> Floats:
        """1 for deals without these cards, else 0; float64 [D]."""
        found = np.ones(len(self.deals))
        for card in cards:
            found = found * self.lacks[card]
        return found

    @property
    def unseen(self) -> int:
        """Cards that no player holds."""
        return len(self.rules.deck) - self.rules.hole * len(self.rules.stacks)

    def _checked_down(self, hand: Hand, player: int) -> Floats:
        """What a player gets with every deal if all call and check from here on, the mean over boards, float64 [D]."""
        end, total, times = self.called(hand), np.zeros(len(self.deals)), np.zeros(len(self.deals))
        left = [card for card in self.rules.deck if card not in hand.board]
        for more in combinations(left, sum(self.rules.deal) - len(hand.board)):
            can = self.without(more)
            total += can * self.settled(replace(end, board=(*hand.board, *more)), split=True)[:, player]
            times += can
        return np.asarray(total / np.maximum(times, 1.0))


class Plays(BaseAgent):
    """Plays by a rule from the public state; ``random`` draws a policy for each one, always the same."""

    draws = False

    def __init__(self, game: PublicHoldem, kind: str, seed: int = 0) -> None:
        super().__init__(game)
        self.kind, self.seed = kind, seed

    def begin(self, seat: int | None = None, generator: Any = None, *, at: Belief | None = None) -> None:
        self.sit(seat, generator)
        self.state = self.game.first_state()

    def see(self, event: int) -> None:
        self.state = self.game.after(self.state, event)

    def fork(self) -> "Plays":
        return copy(self)

    def policy(self) -> Floats:
        labels, player = list(self.game.options(self.state).labels), self.game.options(self.state).player
        hands = len(self.game.possible(self.state)[player])
        if self.kind == "random":
            name = f"{self.seed} {player} {self.game.name_of(self.state)}"
            generator = np.random.default_rng(crc32(name.encode()))
            weights = generator.random((len(labels), hands))
            weights[(weights < 0.3) & (weights < weights.max(axis=0))] = 0.0
            return np.asarray(weights / weights.sum(axis=0))
        wanted = {"shover": labels[-1], "caller": CALL, "folder": labels[0]}[self.kind]
        return np.repeat(np.eye(len(labels))[:, [labels.index(wanted)]], hands, axis=1)


@dataclass(frozen=True)
class Visit:
    """A public state that agents come to.

    Attributes:
        state, hand: the state, and the chips as counted here.
        weights: float64 [D], how likely each deal comes here.
        reached: for each player float64 [H], how likely its own actions come here.
        agents: the agents, there.
        steps: (player, number, policy) of all that happened; policies are None of chance.
    """

    state: State
    hand: Hand
    weights: Floats
    reached: tuple[Floats, ...]
    agents: tuple[Any, ...]
    steps: tuple[tuple[int, int, Floats | None], ...]


def visits(table: Table, game: PublicHoldem, agents: Sequence[Any]) -> Iterator[Visit]:
    """All public states that agents come to, each before those that follow it."""
    ones = tuple(np.ones(len(table.hands)) for _ in agents)
    even = np.full(len(table.deals), 1.0 / len(table.deals))
    waiting = [Visit(game.first_state(), table.first(), even, ones, tuple(agents), ())]
    while waiting:
        visit = waiting.pop()
        yield visit
        options = game.options(visit.state)
        player, policy = options.player, None
        if player == TERMINAL:
            continue
        if player != CHANCE:
            policy = visit.agents[player].policy()
        for number, label in enumerate(options.labels):
            reached = list(visit.reached)
            if policy is None:
                left = table.unseen - len(visit.hand.board)
                weights = visit.weights * table.without([label]) / left
            else:
                weights = visit.weights * policy[number][table.deals[:, player]]
                reached[player] = reached[player] * policy[number]
            if not weights.any():
                continue
            ahead = tuple(agent.fork() for agent in visit.agents)
            for agent in ahead:
                agent.see(label)
            hand = table.after(visit.hand, player, label)
            step = player, number, policy
            waiting.append(Visit(game.after(visit.state, label), hand, weights, tuple(reached), ahead, (*visit.steps, step)))


def drawn_rules(generator: np.random.Generator) -> Rules:
    """A game drawn at random: two players mostly, stacks from a single chip, any antes and rake."""

    def one_of(*choices: Any) -> Any:
        return choices[int(generator.integers(len(choices)))]

    players = one_of(2, 2, 2, 2, 2, 3, 3, 4)
    deal = one_of((0, 1), (0, 1), (0, 1), (0, 1), (0, 1, 1)) if players < 4 else (0, 1)
    hole = one_of(1, 1, 1, 1, 2) if players == 2 and len(deal) == 2 else 1
    needed = players * hole + sum(deal)
    decks = [(ranks, suits) for ranks in (2, 3, 4, 5, 6) for suits in (1, 2, 3) if needed <= ranks * suits <= needed + 2]
    ranks, suits = one_of(*[deck for deck in decks if deck[0] * deck[1] <= 6])
    blinds = one_of((1, 2), (1, 2), (1, 1), (2, 3), (1, 4)) if players == 2 or generator.random() < 0.7 else (1, 2, 4)
    deep = one_of(3, 6, 12, 20)
    stacks = tuple(int(stack) for stack in generator.integers(1, deep + 1, players))
    if generator.random() < 0.3:
        stacks = (deep,) * players
    ante: Any = one_of(0, 0, 1, 2, tuple(int(each) for each in generator.integers(0, 4, players)), (0, 2), (1, 0))
    sizes = one_of(("a",), ("a",), ("100%", "a"), ("50%",)) if players < 4 else ("a",)
    return Rules(
        stacks=stacks,
        blinds=blinds,
        ante=ante,
        dealer=int(generator.integers(players)),
        ranks=ranks,
        suits=suits,
        hole=hole,
        deal=deal,
        sizes=sizes,
        rake=one_of(0.0, 0.05, 0.1, 0.25),
        cap=one_of(0.0, 0.0, 0.5, 1.0),
        no_flop_no_drop=bool(generator.random() < 0.5),
        rules=one_of("tda", "tda", "acpc"),
    )


def public_of(rules: Rules) -> PublicHoldem:
    """The product's game."""
    found = load(rules.spec).public
    assert isinstance(found, PublicHoldem)
    return found
