"""All betting lines of hold'em from a node to the end of the hand, with their probabilities under policies over hand
classes.
"""

from collections.abc import Hashable, Sequence
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Ints, Singles
from treeplex.holdem.betting.tree import Decision, Fold, Showdown, StreetEnd, payoffs
from treeplex.holdem.policies.by_hand import HandPolicy

Policies = tuple[Sequence[HandPolicy], Sequence[HandPolicy]]
"""For each player its C_0 or C_1 continuations, all on one betting tree."""
Name = tuple[Hashable, int]
"""Name and number of the classes of hands on a board."""
Names = tuple[tuple[Name, Name], ...]
"""Classes of both players on each street to come."""


class Lines(NamedTuple):
    """All Z betting lines from a node on.

    A hand's probability of taking its own actions on a line is a product over streets.

    Attributes:
        reach: for each player and street, float32 [C_i, Z, classes].
        chips: float32 [Z], player 0's chips at a fold, or the winner's at a showdown.
        folds, shown: int64, indices of the lines that end with a fold, and with a showdown.
    """

    reach: tuple[tuple[Singles, ...], tuple[Singles, ...]]
    chips: Singles
    folds: Ints
    shown: Ints


def lines_from(policies: Policies, root: int, names: Names) -> Lines:
    """The betting lines from the first node of a street, or from an all-in.

    Args:
        policies: the players' continuations.
        root: index of the node.
        names: names of the policies' classes on each street from there on.
    """
    game = policies[0][0].game
    tables = dict[int, Singles]()
    start = tuple(
        tuple(np.ones((len(choices), street[player][1]), np.float32) for street in names)
        for player, choices in enumerate(policies)
    )
    stack, ended = [(root, 0, start)], list[tuple[int, tuple[tuple[Singles, ...], ...]]]()
    while stack:
        number, street, reach = stack.pop()
        node = game.tree.nodes[number]
        if isinstance(node, StreetEnd):
            stack.append((node.child, street + 1, reach))
        elif isinstance(node, Decision):
            player = node.player
            if number not in tables:
                name = names[street][player][0]
                tables[number] = np.stack([policy.table(number, name) for policy in policies[player]]).astype(np.float32)
            for action, child in enumerate(node.children):
                street_reach = list(reach[player])
                street_reach[street] = street_reach[street] * tables[number][:, action]
                if street_reach[street].any():
                    after = (tuple(street_reach), reach[1]) if player == 0 else (reach[0], tuple(street_reach))
                    stack.append((child, street, after))
        else:
            ended.append((number, reach))
    ends = [game.tree.nodes[number] for number, _ in ended]
    chips = [payoffs(node, game.spot.rake)[0] for node in ends if isinstance(node, Fold | Showdown)]
    folded = np.array([isinstance(node, Fold) for node in ends], bool)
    first, second = (
        tuple(np.stack([reach[player][street] for _, reach in ended], axis=1) for street in range(len(names)))
        for player in (0, 1)
    )
    return Lines((first, second), np.array(chips, np.float32), np.flatnonzero(folded), np.flatnonzero(~folded))


def arrived(reach: tuple[Singles, ...], classes: Sequence[Ints]) -> Singles:
    """The probability that each hand follows its actions of each line, float32 [C, Z, n], from its class on each street,
    int64 [n].
    """
    probabilities = reach[0][:, :, classes[0]]
    for factor, of in zip(reach[1:], classes[1:], strict=True):
        probabilities *= factor[:, :, of]
    return probabilities


def product(chips: Singles, reached: tuple[Singles, Singles], lines: Ints) -> Singles:
    """Sum over lines of chips times both players' probabilities, float32 [C_0, D_0, C_1, D_1].

    Args:
        chips: [Z].
        reached: for each player float32 [C_i, Z, D_i].
        lines: indices of the lines.
    """
    first, second = (reach[:, lines] for reach in reached)
    left = (first * chips[lines][:, None]).transpose(0, 2, 1).reshape(-1, len(lines))
    right = second.transpose(1, 0, 2).reshape(len(lines), -1)
    return np.asarray((left @ right).reshape(len(first), first.shape[2], len(second), second.shape[2]))
