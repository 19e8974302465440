"""Small limit games, and slow references for what the kernels and the judge compute."""

from functools import cache
from math import prod

import numpy as np

from papers.cfr2007.game import LimitGame
from papers.cfr2007.street import END, FOLD
from treeplex.holdem.betting.bet_plan import FixedLimit
from treeplex.holdem.buckets.buckets import make_buckets
from treeplex.holdem.buckets.plan import BucketPlan
from treeplex.holdem.cards.canonical import canonical_boards
from treeplex.holdem.cards.format import royal, small
from treeplex.holdem.cards.strength import parts, strengths_from_turn, turn_part
from treeplex.holdem.spots.known import all_hands, unbound
from treeplex.holdem.spots.spot import Spot


@cache
def royal_strengths():
    turns = canonical_boards(royal(), 4)
    rolled = [turn_part(royal(), turns, part) for part in range(parts(turns))]
    return strengths_from_turn(royal(), turns, np.concatenate(rolled, axis=1))


@cache
def royal_buckets(counts=(2, 2, 2, 2), method="percentile", nested=True):
    return make_buckets(royal_strengths(), BucketPlan(counts, method, nested, boards=100))


def random_game(counts=(2, 2), most=2, seed=0):
    """A game with random joint tables; both players see each other's sequences as independent as chance makes them."""
    streets, size = len(counts), prod(counts)
    random = np.random.default_rng(seed)
    pairs = random.random((size, size)).astype(np.float32)
    pairs /= pairs.sum()
    wins = pairs * random.uniform(-1, 1, (size, size)).astype(np.float32)
    limits = FixedLimit((2.0, 4.0, 4.0, 4.0)[:streets], (most,) * streets)
    return LimitGame(spot_of(limits), counts, lambda: (pairs, wins), spec="random")


def spot_of(limits):
    """A spot with this fixed-limit betting; its cards do not matter."""
    cards = small(ranks=6, deal=(0, *[1] * (len(limits.bets) - 1)))
    return Spot((), 0.0, unbound(limits), all_hands(cards), limits, format=cards, blinds=(1.0, 2.0))


class SlowWalk:
    """One deal at a time, by recursion over the betting; policies are looked up in tables as the kernels lay them out."""

    def __init__(self, game, tables):
        self.game = game
        self.betting = game.betting
        self.tables = tables

    def place(self, street, node, start, sequence):
        """Where the numbers of an infoset's actions are: an array and its positions."""
        _, _, starts, slots = (int(x) for x in self.betting.streets[street, :4])
        actions, slot = (int(x) for x in self.betting.nodes[self.betting.streets[street, 0] + node, 1:])
        on_street = sequence // int(self.tables.tails[street])
        table = self.tables.late if street == len(self.game.counts) - 1 else self.tables.early
        first = int(self.tables.offsets[street]) + (on_street * slots + slot) * starts + start
        return table, first + starts * np.arange(actions)

    def policy(self, street, node, start, sequence):
        table, where = self.place(street, node, start, sequence)
        positive = np.maximum(table[where].astype(float), 0)
        return positive / positive.sum() if positive.sum() > 0 else np.full(len(where), 1 / len(where))

    def results(self, street, node, start, win, child):
        """The values of the actions for player 0; ``child`` computes that of a decision."""
        number = int(self.betting.streets[street, 0]) + node
        player, actions, _ = (int(x) for x in self.betting.nodes[number])
        level = float(self.betting.levels[int(self.betting.streets[street, 6]) + start])
        found = []
        for action in range(actions):
            kind, target = int(self.betting.kinds[number, action]), int(self.betting.children[number, action])
            if kind == FOLD:
                chips = level + float(self.betting.losses[number])
                found.append(-chips if player == 0 else chips)
            elif kind == END and street == len(self.game.counts) - 1:
                found.append(win * (level + float(self.betting.ends[int(self.betting.streets[street, 5]) + target])))
            elif kind == END:
                found.append(child(action, street + 1, 0, target * int(self.betting.streets[street, 2]) + start))
            else:
                found.append(child(action, street, target, start))
        return player, np.array(found)

    def value(self, sequences, win, street=0, node=0, start=0):
        """What player 0 wins when both play by the tables."""
        player, values = self.results(street, node, start, win, lambda action, *where: self.value(sequences, win, *where))
        return float(self.policy(street, node, start, sequences[player]) @ values)

    def learn(self, sequences, win, average, reach=(1.0, 1.0), street=0, node=0, start=0, changes=None):
        """The value, and in ``changes`` what one deal adds to regrets and average at each infoset."""
        player = int(self.betting.nodes[int(self.betting.streets[street, 0]) + node, 0])
        policy = self.policy(street, node, start, sequences[player])

        def child(action, *where):
            after = list(reach)
            after[player] *= policy[action]
            return self.learn(sequences, win, average, tuple(after), *where, changes)

        _, values = self.results(street, node, start, win, child)
        value = float(policy @ values)
        sign = 1 if player == 0 else -1
        changes[street, node, start, player] = (sign * reach[1 - player] * (values - value), reach[player] * policy)
        return value


def slow_best_response(game, walk, hero):
    """A best response's value for ``hero`` against the tables of ``walk``, by enumerating the hero's infosets."""
    betting, last = game.betting, len(game.counts) - 1

    def best(street, node, start, mine, reach):
        """Value for the hero with sequence ``mine`` of this street; ``reach`` weighs all of the opponent's last sequences."""
        number = int(betting.streets[street, 0]) + node
        player, actions, _ = (int(x) for x in betting.nodes[number])
        level = float(betting.levels[int(betting.streets[street, 6]) + start])
        found = []
        for action in range(actions):
            kind, target = int(betting.kinds[number, action]), int(betting.children[number, action])
            after = reach
            if player != hero:
                chosen = [walk.policy(street, node, start, other)[action] for other in range(len(reach))]
                after = reach * np.array(chosen)
            if kind == FOLD:
                chips = level + float(betting.losses[number])
                found.append((-chips if player == hero else chips) * weight(street, mine, after, game.pairs))
            elif kind == END and street == last:
                chips = level + float(betting.ends[int(betting.streets[street, 5]) + target])
                found.append(chips * (1 if hero == 0 else -1) * weight(street, mine, after, game.wins))
            elif kind == END:
                count, there = game.counts[street + 1], target * int(betting.streets[street, 2]) + start
                found.append(sum(best(street + 1, 0, there, mine * count + k, after) for k in range(count)))
            else:
                found.append(best(street, target, start, mine, after))
        return max(found) if player == hero else sum(found)

    def weight(street, mine, reach, table):
        tail = prod(game.counts[street + 1 :])
        rows = table if hero == 0 else table.T
        return float((rows[mine * tail : (mine + 1) * tail].astype(float) @ reach).sum())

    size = prod(game.counts)
    return sum(best(0, 0, 0, bucket, np.ones(size)) for bucket in range(game.counts[0]))
