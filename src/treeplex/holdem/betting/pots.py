"""Pot settlement: side pots, uncalled bets and odd chips."""

from collections.abc import Sequence


def uncalled(paid: Sequence[int]) -> tuple[int, int]:
    """The player with an uncalled bet and the number of uncalled chips; (0, 0) if there is none."""
    most, second = sorted(paid)[-1:-3:-1]
    return paid.index(most) * (most > second), most - second


def side_pots(paid: Sequence[int], folded: Sequence[bool], dead: int = 0) -> list[tuple[int, list[int]]]:
    """The main pot and the side pots, each with the players who can win it.

    Args:
        paid: chips that each player has put in.
        folded: whether each player has folded.
        dead: dead money in the main pot.

    Returns:
        Pairs (chips, players), the main pot first; players in ascending order.
    """
    pots: list[tuple[int, list[int]]] = []
    below = 0
    for level in sorted({put for put, out in zip(paid, folded, strict=True) if not out}):
        amount = sum(min(put, level) - min(put, below) for put in paid) + dead
        if amount:
            able = [player for player, (put, out) in enumerate(zip(paid, folded, strict=True)) if not out and put >= level]
            if pots and pots[-1][1] == able:
                amount += pots.pop()[0]
            pots.append((amount, able))
        below, dead = level, 0
    return pots


def won(pots: Sequence[tuple[int, list[int]]], strengths: Sequence[int], order: Sequence[int] | None) -> list[float]:
    """The chips that each player wins from the pots.

    Args:
        pots: as returned by :func:`side_pots`.
        strengths: strength of each player's hand, higher is better; ignored for players who can win no pot.
        order: players in seat order; the first winner in this order gets odd chips. None splits chips into fractions.
    """
    taken = [0.0] * len(strengths)
    for amount, able in pots:
        best = max(strengths[player] for player in able)
        winners = [player for player in able if strengths[player] == best]
        share = amount / len(winners) if order is None else amount // len(winners)
        for player in winners:
            taken[player] += share
        if order is not None and (odd := amount % len(winners)):
            taken[next(player for player in order if player in winners)] += odd
    return taken
