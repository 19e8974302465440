# mypy: disallow-untyped-decorators=False
"""Equity kernels: boards up to suit isomorphism, range against range in one sweep, and multiway deals."""

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Bytes, Floats, Ints, Shorts
from treeplex.engine.kernel import kernel
from treeplex.engine.sampling.streams import advanced, start, unit
from treeplex.holdem.cards.evaluator import evaluate_board
from treeplex.holdem.engine.showdowns.strength import sort_by_strength

Keys = NDArray[np.int32]

CARDS = 52
FEW = 48
"""Maximum number of hands for insertion sort, which is faster than radix sort for few hands."""
WIN, TIE, SQUARE = 0, 1, 2
"""Columns of sums: pots won alone, shares of split pots, and squares of all shares."""
MOST_TRIES = 1000
"""Average number of draws per valid deal (no repeated card) above which a kernel gives up."""


@kernel(error_model="numpy")
def run_outs(prefix: Ints, deck: Ints, images: Ints, boards: Bytes, weights: Ints) -> int:
    """Complete boards that begin with given cards, one for each class of boards up to renamings of suits.

    Args:
        prefix: int64 [k], the cards already dealt.
        deck: int64 [d], the cards that can be dealt.
        images: int64 [G, 4], the group of renamings, as the image of every suit; they leave prefix and deck unchanged.
        boards: uint8 [B, 5], output.
        weights: int64 [B], output: the number of boards that each represents.

    Returns:
        The number of classes.
    """
    left, cards = 5 - prefix.shape[0], deck.shape[0]
    chosen = np.arange(left)
    masks = np.zeros(4, dtype=np.int64)
    count = 0
    while True:
        masks[:] = 0
        for card in prefix:
            masks[card & 3] |= 1 << (card >> 2)
        for position in chosen:
            masks[deck[position] & 3] |= 1 << (deck[position] >> 2)
        least, alike = True, 0
        for renaming in range(images.shape[0]):
            sign = 0
            for suit in range(4):
                # suit s moves to images[s], so compare the cards of the suit that moves to this place
                sign = masks[images[renaming, suit]] - masks[suit]
                if sign != 0:
                    break
            if sign < 0:
                least = False
                break
            alike += sign == 0
        if least:
            for position in range(prefix.shape[0]):
                boards[count, position] = prefix[position]
            for position in range(left):
                boards[count, 5 - left + position] = deck[chosen[position]]
            weights[count] = images.shape[0] // alike
            count += 1
        position = left - 1
        while position >= 0 and chosen[position] == cards - left + position:
            position -= 1
        if position < 0:
            return count
        chosen[position] += 1
        for after in range(position + 1, left):
            chosen[after] = chosen[after - 1] + 1


@kernel(error_model="numpy")
def sort_few(keys: Keys, order: Shorts) -> int:
    """Sort like :func:`sort_by_strength`, by insertion."""
    size = 0
    for hand in range(keys.shape[0]):
        if keys[hand] >= 0:
            position = size
            while position > 0 and keys[order[position - 1]] > keys[hand]:
                order[position] = order[position - 1]
                position -= 1
            order[position] = hand
            size += 1
    return size


@kernel(error_model="numpy")
def range_against_range(hands: Bytes, reach: Floats, boards: Bytes, weights: Ints, sums: Floats) -> None:
    """Add every hand's wins and ties against the other range over complete boards.

    One sweep per board visits the hands in ascending order of strength: ``below`` sums the reach of weaker hands, and
    ``held`` that of weaker hands with each card, which is subtracted for card removal.

    Args:
        hands: uint8 [H, 2], the hands of both players together.
        reach: float64 [2, H], their weights.
        boards: uint8 [B, 5].
        weights: int64 [B], the weight of each board.
        sums: float64 [2, H, 2], added to: the opponent's reach that each hand beats, and half of the reach that it ties.
    """
    keys = np.empty(hands.shape[0], dtype=np.int32)
    order, spare = np.empty(hands.shape[0], dtype=np.int16), np.empty(hands.shape[0], dtype=np.int16)
    board = np.empty(5, dtype=np.int64)
    below, equal = np.empty(2), np.empty(2)
    held, tied = np.empty((CARDS, 2)), np.zeros((CARDS, 2))
    for number in range(boards.shape[0]):
        for position in range(5):
            board[position] = boards[number, position]
        evaluate_board(board, hands, keys)
        size = sort_few(keys, order) if hands.shape[0] <= FEW else sort_by_strength(keys, order, spare)
        scale = float(weights[number])
        below[:] = 0.0
        held[:] = 0.0
        first = 0
        while first < size:
            key, end = keys[order[first]], first
            equal[:] = 0.0
            while end < size and keys[order[end]] == key:
                hand = order[end]
                for player in range(2):
                    weight = reach[player, hand]
                    equal[player] += weight
                    tied[hands[hand, 0], player] += weight
                    tied[hands[hand, 1], player] += weight
                end += 1
            for position in range(first, end):
                hand = order[position]
                low, high = hands[hand, 0], hands[hand, 1]
                for player in range(2):
                    other = 1 - player
                    weaker = below[other] - held[low, other] - held[high, other]
                    same = equal[other] - tied[low, other] - tied[high, other] + reach[other, hand]
                    sums[player, hand, WIN] += scale * weaker
                    sums[player, hand, TIE] += 0.5 * scale * same
            for position in range(first, end):
                hand = order[position]
                for player in range(2):
                    for card in hands[hand]:
                        held[card, player] += reach[player, hand]
                        tied[card, player] = 0.0
            below += equal
            first = end


@kernel(error_model="numpy")
def share(keys: Keys, deal: Ints, scale: float, sums: Floats) -> None:
    """Add each player's winnings in a deal to ``sums``: pots won alone, shares of split pots, and squares of shares.

    Args:
        keys: int32 [H], strengths of hands.
        deal: int64 [n], the hand of each player.
        scale: weight of the deal.
        sums: float64 [n, H, 3], added to.
    """
    best, winners = -1, 0
    for hand in deal:
        if keys[hand] > best:
            best, winners = keys[hand], 1
        elif keys[hand] == best:
            winners += 1
    part = 1.0 / winners
    for player in range(deal.shape[0]):
        hand = deal[player]
        if keys[hand] == best:
            sums[player, hand, WIN if winners == 1 else TIE] += scale * part
            sums[player, hand, SQUARE] += scale * part * part


@kernel(error_model="numpy")
def deals_on_boards(hands: Bytes, deals: Ints, chances: Floats, boards: Bytes, weights: Ints, sums: Floats) -> None:
    """Add every hand's winnings over given deals and complete boards.

    Args:
        hands: uint8 [H, 2], the hands of all players together.
        deals: int64 [D, n], hands that share no card.
        chances: float64 [D], the weight of each deal.
        boards, weights: as for :func:`range_against_range`.
        sums: float64 [n, H, 3], added to.
    """
    keys = np.empty(hands.shape[0], dtype=np.int32)
    board = np.empty(5, dtype=np.int64)
    for number in range(boards.shape[0]):
        for position in range(5):
            board[position] = boards[number, position]
        evaluate_board(board, hands, keys)
        scale = float(weights[number])
        for deal in range(deals.shape[0]):
            free = True
            for hand in deals[deal]:
                free = free and keys[hand] >= 0
            if free:
                share(keys, deals[deal], scale * chances[deal], sums)


@kernel(error_model="numpy")
def list_deals(masks: Ints, hands: Ints, counts: Ints, reach: Floats, deals: Ints, chances: Floats) -> int:
    """List all deals of hands of several ranges that share no card.

    Args:
        masks: int64 [H], the cards of each hand as bits.
        hands: int64 [n, m], the hands of each player's range.
        counts: int64 [n], the number of hands in each range.
        reach: float64 [n, H], their weights.
        deals: int64 [D, n], output.
        chances: float64 [D], output: the products of the weights.

    Returns:
        The number of deals, ``D`` at most; ``D + 1`` if there are more.
    """
    players, count = counts.shape[0], 0
    places = np.zeros(players, dtype=np.int64)
    used, weight = np.zeros(players + 1, dtype=np.int64), np.ones(players + 1)
    depth = 0
    while depth >= 0:
        if places[depth] == counts[depth]:
            places[depth] = 0
            depth -= 1
            continue
        hand = hands[depth, places[depth]]
        places[depth] += 1
        if used[depth] & masks[hand]:
            continue
        used[depth + 1] = used[depth] | masks[hand]
        weight[depth + 1] = weight[depth] * reach[depth, hand]
        if depth + 1 < players:
            depth += 1
            continue
        if count == deals.shape[0]:
            return count + 1
        for player in range(players):
            deals[count, player] = hands[player, places[player] - 1]
        chances[count] = weight[players]
        count += 1
    return count


@kernel(error_model="numpy")
def sampled_deals(
    hands: Bytes, tables: Floats, prefix: Ints, deck: Ints, stream: Ints, samples: int, sums: Floats, met: Floats
) -> int:
    """Add every hand's winnings over random deals and boards.

    Hands are drawn from the ranges, and all of them redrawn where two share a card, so deals have the right frequencies.
    Then the board is drawn from the remaining cards.

    Args:
        hands: uint8 [H, 2], the hands of all players together; none has a card of the prefix or outside the deck.
        tables: float64 [n, H], each player's cumulative weights, ending with 1.
        prefix, deck: as for :func:`run_outs`.
        stream: int64 [2], the seed and the number of this part; every part draws different deals.
        samples: number of deals.
        sums: float64 [n, H, 3], added to.
        met: float64 [n, H], added to: the number of deals in which each player had each hand.

    Returns:
        The number of deals drawn; fewer than ``samples`` if almost every deal repeats a card.
    """
    state = start(np.uint64(stream[0]), np.uint64(stream[1]), np.uint64(0))
    players = tables.shape[0]
    deal, keys = np.empty(players, dtype=np.int64), np.empty(players, dtype=np.int32)
    seats, held = np.arange(players), np.empty((players, 2), dtype=np.uint8)
    board = np.empty(5, dtype=np.int64)
    winnings = np.zeros((players, players, 3))
    tries = 0
    for done in range(samples):
        used = np.int64(0)
        player = 0
        while player < players:
            state = advanced(state)
            hand = np.searchsorted(tables[player], unit(state), side="right")
            mask = (np.int64(1) << np.int64(hands[hand, 0])) | (np.int64(1) << np.int64(hands[hand, 1]))
            if used & mask:
                used, player = np.int64(0), 0
                tries += 1
                if tries > MOST_TRIES * (done + 1000):
                    return done
                continue
            used |= mask
            deal[player] = hand
            held[player] = hands[hand]
            player += 1
        for position in range(prefix.shape[0]):
            board[position] = prefix[position]
        position = prefix.shape[0]
        while position < 5:
            state = advanced(state)
            card = deck[int(unit(state) * deck.shape[0])]
            if not used >> card & 1:
                used |= np.int64(1) << card
                board[position] = card
                position += 1
        evaluate_board(board, held, keys)
        winnings[:] = 0.0
        share(keys, seats, 1.0, winnings)
        for player in range(players):
            met[player, deal[player]] += 1.0
            for column in range(3):
                sums[player, deal[player], column] += winnings[player, player, column]
    return samples
