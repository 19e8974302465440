"""Action translation: lets a policy or agent for few bet sizes play a game with many.

An agent that knows only bets of half the pot and of the pot has to treat a bet of 0.7 pots as one of these. The
*pseudo-harmonic* mapping treats a bet of x pots, between sizes A < B, as A with probability

    f(x) = (B - x) (1 + A) / ((B - A) (1 + x)).

Either the size is drawn with this probability, or the likelier size is used, which is A up to x = (A + B + 2 A B) / (A + B +
2). A check or call has size 0. Source: Ganzfried and Sandholm (2013), "Action translation in extensive-form games with large
action spaces: axioms, paradoxes, and the pseudo-harmonic mapping".

The coarse game is tracked in parallel with the real one, with actions *translated* by the mapping. If the coarse betting round
ends first, because a small bet was translated to a call or a large one to all-in, the agent checks and calls until its next
decision in the coarse game.
"""

from collections.abc import Sequence

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.spec import nearest
from treeplex.errors import GameError, SpecError
from treeplex.games.base import CHANCE
from treeplex.games.public import Bets, PublicGame, State

MAPPINGS = ("random", "likelier")
"""Mappings of a bet between two sizes: to one of them at random, or to the likelier one."""
SAME = 1e-9
"""Difference, in pots, below which bet sizes are considered equal."""


def pseudo_harmonic(size: float, sizes: Floats, mapping: str = "random") -> Floats:
    """Probability that a bet is translated to each of the sizes, float64 [S].

    Args:
        size: the bet size, in pots.
        sizes: ascending, at least one; 0 is a check or call.
        mapping: one of :data:`MAPPINGS`.
    """
    shares = np.zeros(len(sizes))
    above = int(np.searchsorted(sizes, size - SAME))
    if above == len(sizes) or above == 0 or sizes[above] <= size + SAME:
        shares[min(above, len(sizes) - 1)] = 1.0
        return shares
    low, high = sizes[above - 1 : above + 1]
    lower = (high - size) * (1 + low) / ((high - low) * (1 + size))
    if mapping == "likelier":
        lower = float(lower >= 0.5)
    shares[above - 1 : above + 1] = lower, 1.0 - lower
    return shares


def translation_shares(real: Bets, action: int, coarse: Bets, mapping: str) -> Floats:
    """Probability that a real action is translated to each coarse one, float64 [coarse actions]."""
    kind, shares = real.kinds[action], np.zeros(len(coarse.kinds))
    if kind == "fold" and "fold" in coarse.kinds:
        shares[coarse.kinds.index("fold")] = 1.0
        return shares
    open_to = [number for number, other_kind in enumerate(coarse.kinds) if other_kind != "fold"]
    shares[open_to] = pseudo_harmonic(float(real.sizes[action]), coarse.sizes[open_to], mapping)
    return shares


def real_actions(coarse: Bets, real: Bets) -> list[int]:
    """Real action for each coarse action, [coarse actions]; for bets, the nearest according to the mapping.

    If betting is impossible, a bet becomes a call; if folding is impossible, a fold becomes a check.
    """
    passing = real.kinds.index("pass")
    raised = [number for number, kind in enumerate(real.kinds) if kind == "bet"]
    played = []
    for kind, size in zip(coarse.kinds, coarse.sizes, strict=True):
        if kind == "fold":
            played.append(real.kinds.index("fold") if "fold" in real.kinds else passing)
        elif kind == "pass" or not raised:
            played.append(passing)
        else:
            played.append(raised[int(pseudo_harmonic(float(size), real.sizes[raised], "likelier").argmax())])
    return played


def bets_at(game: PublicGame, state: State) -> Bets:
    """Return the actions at a state with a player to act, as bets.

    Raises:
        GameError: the game has no bets.
    """
    bets = game.bets(state)
    if bets is None:
        raise GameError(f"actions at {game.name_of(state)} are not bets and cannot be translated; use a poker game")
    return bets


def check_known(what: str, value: str, known: Sequence[str]) -> None:
    """Raise a :class:`SpecError` for an unknown word."""
    if value not in known:
        raise SpecError(f"unknown {what} {value!r}{nearest(value, known)}")


def check_hands(real: PublicGame, coarse: PublicGame) -> None:
    """Raise a :class:`GameError` unless both games have the same hands and cards."""
    widths = [tuple(len(hands) for hands in game.possible(game.first_state())) for game in (real, coarse)]
    if widths[0] != widths[1]:
        raise GameError(f"players have {widths[0]} hands in the real game and {widths[1]} in the coarse one; use the same deck")
    if first_deal(real) != first_deal(coarse):
        raise GameError("the real game and the coarse one deal different cards; use the same deck")


def first_deal(game: PublicGame) -> tuple[int, ...]:
    """Labels of the first deal if all players check or call until then; empty if there is none."""
    state = game.first_state()
    while (options := game.options(state)).player >= 0 and (bets := game.bets(state)) is not None:
        state = game.after(state, options.labels[bets.kinds.index("pass")])
    return tuple(map(int, options.labels)) if options.player == CHANCE else ()
