"""A public tree with vectors over hands as arrays, on which the hold'em engine runs.

Cards are factored out of the betting: every board of a street has the same *forest* of betting (one tree for each way to
enter the street), and every board has its own list of hands for each player. A block is ``[actions, hands]``; the parents of
a block are one row of the same width, so infosets need no index of their own.

Within a street each player's sequences are numbered ``0..K-1`` for the K roots (the player's actions before the street),
followed by one for each action at an own node; parents come before children. A sequence at a board is a row of numbers, one
per hand.
"""

from typing import NamedTuple

from treeplex.base.arrays import Bytes, Floats, Ints, Shorts

ROOTS, NODES, ACTIONS, FOLDS, SHOWDOWNS, ENDS, BOARDS = 0, 1, 4, 6, 8, 10, 12
"""Columns of ``HoldemForm.streets``: roots; the players' slices of nodes (start, middle, end); actions of each player; slices
of folds, showdowns, ends and boards."""

PARENT, HANDS, COUNT, STORE, REACH, RETURN, COPIES, CHILDREN, INFOSETS, SCALES = (0, 1, 3, 5, 7, 9, 11, 13, 15, 17)
"""Columns of ``HoldemForm.boards``: parent board; for each player the first hand, number of hands, first stored number, first
number of the reach rows and of the returned rows; slice of copies; slice of child boards; for each player its first infoset and
scale. Returned rows of the last street are numbered from 0 for each parent board."""

NO_CARD, ANY_CARD = 52, 53
"""Placeholders for the second card of one-card hands: reads return zero, and additions are never read."""


class HoldemForm(NamedTuple):
    """A public tree over hands, as arrays.

    Attributes:
        streets: int64 [S, 14], columns from :data:`ROOTS` on.
        factors: float64 [B], probability of the deal that leads to each board (or to each of its copies), given both hands; 1
            for the first board. For a subset of boards it includes the probability of the boards represented.
        nodes: int64 [X, 3], for each own node of a player in a street: parent sequence, first action, number of actions; its
            sequences are ``K + first action + a``.
        folds: int64 [F, 2], both players' sequences at each fold.
        fold_values: float64 [F, 2], chips for each player.
        showdowns: int64 [D, 2], both players' sequences at each showdown; only in the last street.
        showdown_values: float64 [D, 3], chips for a win, for a loss, and for either player in a tie.
        ends: int64 [E, 2], both players' sequences at the ends of streets; end k of a street is root k of the next.
        boards: int64 [B, 19], columns from :data:`PARENT` on; grouped by street, parents first.
        source: int16 [H], position of each board's hand at the parent board (on the first street: its own).
        order: int16 [H], rank of strength on the last street, ascending (equal in ties); 0 elsewhere.
        cards: uint8 [H, 3], first card, second card for additions, second card for reads (equal except for one-card hands).
        twin: int16 [H], position of the same hand in the other player's list; -1 if absent or if hands have one card.
        mirror: int16 [H], position of the hand whose values this one copies because a renaming of suits leaves board and ranges
            unchanged; mostly its own. Rounding would treat such hands differently, and regrets would amplify the difference.
        copies: int64 [C, 2], for each player the first number in ``targets`` of each isomorphic copy of a board.
        targets: int16 [T], for each hand of the board the position at the parent board that receives a copy's value.
        weights: float64 [H0], range weights of both players' hands at the root board, at the board's offsets.
    """

    streets: Ints
    factors: Floats
    nodes: Ints
    folds: Ints
    fold_values: Floats
    showdowns: Ints
    showdown_values: Floats
    ends: Ints
    boards: Ints
    source: Shorts
    order: Shorts
    cards: Bytes
    twin: Shorts
    mirror: Shorts
    copies: Ints
    targets: Shorts
    weights: Floats


class Store(NamedTuple):
    """A solver's flat arrays: action e of hand j of a player on a board is at ``boards[b, STORE + player] + e * n + j``.

    Kernels compile the code for an optional array only if it is not None.

    Attributes:
        regrets: [Q], accumulated regrets; like ``guesses`` and ``average`` floating-point, int16 or int8.
        guesses: [Q], unnormalised next policy; the same array as ``regrets`` unless the variant predicts.
        average: [Q], own-reach-weighted sums of policies.
        regret_scales, guess_scales, average_scales: float32, of short arrays (``holdem.engine.storage``); else empty.
        previous: [Q] and changes: [2, I], of variants that adapt their prediction: last regrets and sums of squared changes
            (APCFR+), or differences of the candidates and test sums (value-tested CFR+); else None.
        target: [Q], of fictitious play that responds to mixtures of averages and last best responses; else None.
        locked: uint8 [I], 1 where the policy is locked; empty without locks. Locked policies are stored in ``regrets``.
        lock_places: int64 [L], indices of the locked numbers in ``regrets``, and lock_values: [L], their values.
    """

    regrets: Floats
    guesses: Floats
    average: Floats
    regret_scales: Floats
    guess_scales: Floats
    average_scales: Floats
    previous: Floats | None
    changes: Floats | None
    target: Floats | None
    locked: Bytes
    lock_places: Ints
    lock_values: Floats


class Workspace(NamedTuple):
    """Scratch space, and rows that are passed between streets.

    Attributes:
        rows: [threads, rows, TILE].
        scratch: [threads, 4, TILE].
        turned: [threads, COLUMNS, TILE].
        unpacked: [threads, 2, actions * TILE], for short arrays; else empty.
        reached, valued: [threads, (hands + 17) * columns], the opponent's reach at terminals, and the values there.
        total, by_card: [threads, COLUMNS] and [threads, 54 * COLUMNS].
        chips: [S, 2, 4, columns], for each street and player, showdowns first, folds from the next multiple of ``PADDING`` on:
            the factor on reach (chips of a win or of the fold; 1 for a showdown with rake), followed by the chips of a win, a
            loss and a tie.
        reach: flat rows of reach at boards with further streets.
        returned: [slots, rows], values at the roots of boards, in chips times the opponent's reach (without chance). Boards of
            the last street use the slot passed to their kernel, all others the first.
        gathered: flat rows of values at the ends of streets, laid out like ``reach``.
    """

    rows: Floats
    scratch: Floats
    turned: Floats
    unpacked: Floats
    reached: Floats
    valued: Floats
    total: Floats
    by_card: Floats
    chips: Floats
    reach: Floats
    returned: Floats
    gathered: Floats
