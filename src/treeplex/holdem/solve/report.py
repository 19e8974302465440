"""Command-line report of a solved spot: EVs from the pot, exploitability as an amount and as a share of the pot."""

from typing import TYPE_CHECKING, Any

from treeplex.base.digits import short
from treeplex.base.wings import named, provided_by_name

if TYPE_CHECKING:
    from treeplex.holdem.solve.solution import HoldemSolution
    from treeplex.holdem.spots.spot import Spot

PLAYERS = ("OOP", "IP")


def amount_and_share(value: float, spot: "Spot") -> str:
    """An exploitability as text, in the spot's unit and in percent of the pot."""
    pot, amount = spot.opening_pot, f"{short(value)} {spot.unit}"
    return f"{amount}, {short(100 * value / pot)}% of the pot" if pot else amount


def evs_of(spot: "Spot", ev: tuple[float, float]) -> dict[str, str]:
    """Both players' EVs as text: chips won from the pot, and net of their own chips in it."""
    unit = "" if spot.unit == "chips" else f" ({spot.unit})"
    rows = zip(PLAYERS, ev, spot.committed, strict=True)
    return {
        f"EV {name}": f"{value + put_in:.3f} of the pot of {spot.opening_pot:g}   {value:+.3f} against {put_in:g} put in{unit}"
        for name, value, put_in in rows
    }


def smallest_bet(spot: "Spot") -> float | None:
    """The big blind of a spot, from its blinds or its smallest bet, in chips."""
    return spot.big_blind or getattr(spot.bets, "min_bet", None)


def in_big_blinds(solution: "HoldemSolution") -> float | None:
    """Exploitability in big blinds, as in papers on Libratus' endgames; None if the big blind is unknown."""
    blind = smallest_bet(solution.spot)
    return solution.exploitability_unnormalised / blind if blind and solution.judged else None


def facts_of(solution: "HoldemSolution") -> dict[str, str]:
    """Human-readable fields of a solution, by name."""
    spot, settings = solution.spot, solution.settings
    until = settings.until
    if not solution.judged and not until:
        return {"exploitability": "unknown, as are EVs: the evaluation was interrupted"}
    facts: dict[str, str] = {}
    if solution.judged:
        facts["exploitability"] = amount_and_share(solution.exploitability, spot) + (" on this street" if until else "")
    if until:
        unlike_training = named(provided_by_name("first_streets")["unlike_training"])
        facts["values"] = f"on the {until} by {settings.net}; later streets are not solved"
        if differences := unlike_training(spot, settings.net):
            facts["beware"] = f"the network was not trained for this spot, which has {', '.join(differences)}"
    if spot.big_blind is None and (blinds := in_big_blinds(solution)) is not None:
        facts["in papers"] = f"{short(blinds)} big blinds, as in papers on Libratus' endgames"
    if solution.target is not None:
        verdict = "reached" if solution.target_reached else "not reached"
        facts["target"] = f"{amount_and_share(solution.target, spot)}   {verdict}"
    facts |= evs_of(spot, solution.ev)
    first = solution.at()
    if first.player is not None:
        often = zip(first.actions, first.frequency, strict=True)
        facts[f"{PLAYERS[first.player]} first"] = ", ".join(f"{action} {100 * part:.1f}%" for action, part in often)
    if not until:
        where = f"{settings.threads} threads" if settings.device == "cpu" else f"device {settings.device}"
        facts["memory"] = f"{solution.memory / 1e6:,.1f} MB, {where}"
    if solution.disk[1]:
        size, seconds = solution.disk
        facts["disk"] = f"{size / 1e9:,.2f} GB read and written at {size / 1e6 / seconds:,.0f} MB/s per worker"
    return facts


def record_of(solution: "HoldemSolution") -> dict[str, Any]:
    """Fields that ``--json`` prints in addition to those of any solution."""
    pot, (oop, ip), judged = solution.spot.opening_pot, solution.spot.committed, solution.judged
    settings, valued = solution.settings, solution.judged or bool(solution.settings.until)
    return {
        "seconds_per_iteration": solution.seconds / solution.iterations if solution.iterations else None,
        "threads": settings.threads,
        "device": settings.device,
        "memory_mb": solution.memory / 1e6,
        "exploitability_percent": 100 * solution.exploitability / pot if pot and judged else None,
        "exploitability_bb": in_big_blinds(solution),
        "ev_oop": solution.ev[0] + oop if valued else None,
        "ev_ip": solution.ev[1] + ip if valued else None,
        **({"until": settings.until, "net": settings.net} if settings.until else {}),
    }
