# mypy: disallow-untyped-decorators=False
"""Kernels of push or fold for several players: outcomes of all-ins, and counterfactual gains over random deals.

Every player acts once, in order. A *node* is a player and the set of earlier players who are all-in, numbered ``2^i + set``;
``2^n + set`` is the end of the hand. The push leads to ``2^(i+1) + set + 2^i``, the fold to ``2^(i+1) + set``.
"""

import numpy as np

from treeplex.base.arrays import Floats, Ints
from treeplex.engine.kernel import kernel
from treeplex.engine.sampling.streams import advanced, start, unit
from treeplex.holdem.cards.evaluator import evaluate_board
from treeplex.holdem.study.icm import prize_money

CARDS = 52


@kernel(error_model="numpy")
def outcomes(stacks: Floats, posted: Floats, payouts: Floats, orders: Ints, values: Floats) -> None:
    """Write what every player has after every all-in, for every order of the hands' strengths.

    Args:
        stacks: float64 [n], stacks before the hand, in order of action.
        posted: float64 [n], antes and blinds.
        payouts: float64 [n], for prize money by ICM; [0] for chips.
        orders: int64 [W, n], ranks of the hands, a stronger hand with a higher one.
        values: float64 [2^n, W, n], written: final chips, or their prize money, by the set of players all-in.
    """
    players = stacks.shape[0]
    paid, chips = np.empty(players), np.empty(players)
    for all_in in range(1 << players):
        for player in range(players):
            paid[player] = stacks[player] if all_in >> player & 1 else posted[player]
        for order in range(orders.shape[0]):
            pot = 0.0
            for player in range(players):
                chips[player] = stacks[player] - paid[player]
                pot += paid[player]
            if all_in == 0:
                chips[players - 1] += pot
            level = 0.0
            while all_in > 0:
                following = np.inf
                for player in range(players):
                    if all_in >> player & 1 and level < paid[player] < following:
                        following = paid[player]
                if following == np.inf:
                    break
                layer, best, winners = 0.0, -1, 0
                for player in range(players):
                    layer += max(0.0, min(paid[player], following) - level)
                    if all_in >> player & 1 and paid[player] >= following:
                        if orders[order, player] > best:
                            best, winners = orders[order, player], 0
                        winners += orders[order, player] == best
                for player in range(players):
                    if all_in >> player & 1 and paid[player] >= following and orders[order, player] == best:
                        chips[player] += layer / winners
                level = following
            if payouts.shape[0] > 0:
                prize_money(chips, stacks, payouts, values[all_in, order])
            else:
                values[all_in, order] = chips


@kernel(error_model="numpy")
def add_gains(
    values: Floats,
    numbers: Ints,
    classes: Ints,
    stream: Ints,
    deals: int,
    push: Floats,
    gains: Floats,
    reach: Floats,
    totals: Floats,
) -> None:
    """Add the counterfactual gains of a push over a fold, over random deals of all hands and a board.

    Args:
        values: from :func:`outcomes`.
        numbers: int64 [n^n], the row of ``orders`` for ranks read as digits; the rank of a hand is the number of weaker ones.
        classes: int64 [52, 52], the class of two cards.
        stream: int64 [2], the seed and the number of this part; every part draws different deals.
        deals: number of deals.
        push: float64 [2^n, 169], policy by node and class.
        gains: float64 [2^n, 169], added to: probability that the others reach the node, times value of a push minus a fold.
        reach: float64 [2^n, 169], added to: that probability.
        totals: float64 [2, n], added to: every player's value, and its square.
    """
    players = totals.shape[1]
    ends = 1 << players
    state = start(np.uint64(stream[0]), np.uint64(stream[1]), np.uint64(0))
    deck, hands = np.arange(CARDS), np.empty((players, 2), dtype=np.uint8)
    board, keys = np.empty(5, dtype=np.int64), np.empty(players, dtype=np.int32)
    held = np.empty(players, dtype=np.int64)
    met, worth = np.empty(2 * ends), np.empty((2 * ends, players))
    for _ in range(deals):
        for position in range(2 * players + 5):
            state = advanced(state)
            other = position + int(unit(state) * (CARDS - position))
            deck[position], deck[other] = deck[other], deck[position]
        for player in range(players):
            first, second = deck[2 * player], deck[2 * player + 1]
            hands[player, 0], hands[player, 1] = first, second
            held[player] = classes[first, second]
        for position in range(5):
            board[position] = deck[2 * players + position]
        evaluate_board(board, hands, keys)
        code = 0
        for player in range(players - 1, -1, -1):
            rank = 0
            for other in range(players):
                rank += keys[other] < keys[player]
            code = code * players + rank
        row = numbers[code]
        for all_in in range(ends):
            for player in range(players):
                worth[ends + all_in, player] = values[all_in, row, player]
        met[1] = 1.0
        player = 0
        for node in range(1, ends):
            if node == 2 << player:
                player += 1
            pushes = push[node, held[player]]
            fold = node + (1 << player)  # 2^(i+1) + set
            met[fold + (1 << player)] = met[node] * pushes
            met[fold] = met[node] * (1.0 - pushes)
        player = players - 1
        for node in range(ends - 1, 0, -1):
            if node < 1 << player:
                player -= 1
            fold = node + (1 << player)
            allin = fold + (1 << player)
            pushes = push[node, held[player]]
            for other in range(players):
                worth[node, other] = pushes * worth[allin, other] + (1.0 - pushes) * worth[fold, other]
            gains[node, held[player]] += met[node] * (worth[allin, player] - worth[fold, player])
            reach[node, held[player]] += met[node]
        for player in range(players):
            totals[0, player] += worth[1, player]
            totals[1, player] += worth[1, player] ** 2
