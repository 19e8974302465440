"""Adding a bet size to a spot's bet plan."""

from collections.abc import Sequence
from dataclasses import replace

from treeplex.errors import GameError
from treeplex.games.betting.size_grammar import Size
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.betting.tree import Decision
from treeplex.holdem.spots.spot import Spot


def with_bet(spot: Spot, event: Decision, action: float) -> Spot:
    """Return the spot with one more bet or raise for the player to act, to ``action`` total chips on this street.

    Raises:
        GameError: the rules allow no such bet.
    """
    if not isinstance(spot.bets, BetPlan):
        raise GameError("fixed-limit betting does not support other bet sizes")
    if not any(offered_action.kind in ("bet", "raise", "allin") for offered_action in event.actions) and not open_to_raise(
        event, spot
    ):
        raise GameError("no raise is possible here; a player is all-in")
    return replace(spot, bets=with_size(spot.bets, event, max(action - max(event.street_bets), 0.0)))


def offered(event: Decision, action: float, spot: Spot) -> int:
    """The index of the bet or raise to ``action`` chips.

    Raises:
        GameError: the bet is not offered; the message says why.
    """
    number = action_to(event, action)
    if number is None:
        sums = [offered_action.amount for offered_action in event.actions if offered_action.kind in ("bet", "raise", "allin")]
        raise GameError(f"a bet to a total of {action:g} chips is not allowed here: {allowed(sums, action, spot)}")
    return number


def action_to(event: Decision, amount: float) -> int | None:
    """The index of the bet or raise to this amount; None if it is not offered."""
    for number, action in enumerate(event.actions):
        if action.kind in ("bet", "raise", "allin") and abs(action.amount - amount) < 1e-9 * max(amount, 1.0):
            return number
    return None


def with_size(plan: BetPlan, event: Decision, chips: float) -> BetPlan:
    """The plan with one more bet or raise of ``chips`` for the player to act on this street."""
    sizes = plan.streets[event.street][event.player]
    size = Size("chips", chips)
    changed = (
        replace(sizes, raises=(*sizes.raises, size)) if max(event.street_bets) else replace(sizes, bets=(*sizes.bets, size))
    )
    both = list(plan.streets[event.street])
    both[event.player] = changed
    return replace(plan, streets=(*plan.streets[: event.street], (both[0], both[1]), *plan.streets[event.street + 1 :]))


def open_to_raise(event: Decision, spot: Spot) -> bool:
    """Whether the other player has enough chips to call a larger bet."""
    return event.contributions[1 - event.player] < spot.pot / 2 + spot.stack - spot.chip / 2


def allowed(sums: Sequence[float], amount: float, spot: Spot) -> str:
    """Describe which bets are legal, for error messages; ``sums`` are the bets offered."""
    if abs(amount / spot.chip - round(amount / spot.chip)) > 1e-6:
        return f"bets are multiples of the chip, {spot.chip:g}"
    if amount < min(sums):
        return f"at least {min(sums):g}"
    if amount > max(sums):
        return f"at most {max(sums):g}, all-in"
    return f"the spot's force_allin and merge reduce the bets to {', '.join(f'{chips:g}' for chips in sums)}"
