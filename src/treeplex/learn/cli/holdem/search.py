"""``treeplex holdem search``: search the first street of a spot with a network, exact leaf values, or none."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.base.digits import short, three_digits
from treeplex.base.spec import quoted
from treeplex.errors import FileError, SpecError
from treeplex.holdem.solve.report import amount_and_share, evs_of
from treeplex.run.cli.shared.arguments import AnyGameArgument, Force, Json, ShowProgress
from treeplex.run.cli.shared.commands import command, described, with_wing_options
from treeplex.run.cli.shared.console import counted, print_facts, print_json, print_next
from treeplex.run.cli.shared.failures import STOPPED, fail
from treeplex.run.cli.shared.live import Live
from treeplex.run.job.progress_line import line_of

if TYPE_CHECKING:
    from treeplex.holdem.spots.spot import Spot
    from treeplex.learn.first_street.search import SearchedSpot


@command("Search one street, with a network or exact leaf values.", place=50, example="search turn_endgame runs/turn")
@with_wing_options("search")
def search(
    *,
    spot: AnyGameArgument = None,
    net: Annotated[
        str | None,
        typer.Argument(
            metavar="NETWORK",
            help="A folder of train rebel or train hand-values, a network file, my.py:MyLeaf, or the shipped rebel or hands.",
        ),
    ] = None,
    iterations: Annotated[
        int | None, typer.Option("-n", "--iterations", metavar="N", help="Number of search iterations. Default: 128.")
    ] = None,
    method: Annotated[
        str | None, typer.Option(metavar="NAME", help="Search method: lcfr, dcfr, lcfr-avg-modified, flop, ... Default: lcfr.")
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Exact leaf values: solve later streets in every iteration.")] = False,
    zero: Annotated[bool, typer.Option("--zero", help="Zero leaf values: ignore later streets.")] = False,
    river: Annotated[int | None, typer.Option(metavar="N", help="Iterations of endgame solving. Default: 64.")] = None,
    judge: Annotated[
        bool | None,
        typer.Option("--judge/--no-judge", help="Compute the exploitability. Default: if memory allows."),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(metavar="N", help="Threads for endgames. Default: one per available core.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the strategy to a file that treeplex show reads.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
    progress: ShowProgress = None,
    more: Mapping[str, Any],
) -> None:
    """Search a turn, a flop or any other first street to the end of its betting, for all hands at once.

    Leaf values at the end of the betting come from a network over river beliefs (rebel, turns only), a network over single
    hands (hands, turns and flops), a custom leaf (my.py:MyLeaf), exact solving (--exact), or are zero (--zero). Ctrl-C ends
    the search early.

    \b
    Examples:
      treeplex holdem search turn_endgame rebel --bets 100%,a --raises a
      treeplex holdem search examples/spots/flop.yaml hands --board QsJh2h --no-judge
      treeplex holdem search examples/spots/turn.yaml --exact -n 32 --out turn.spot
    \f
    To evaluate the average policy of this street, and to save it with --out, later streets are solved from the ranges that it
    leads to. EVs are in chips and include the pot, so a fold has EV 0. In --json, ev_oop and ev_ip are the search's
    estimates, and played_ev_oop and played_ev_ip are exact. For exploitability_mbb the big blind is the spot's minimum bet
    (min_bet).

    \b
    More examples:
      treeplex holdem search examples/spots/flop.yaml --board QsJh2h --zero --no-judge
      treeplex holdem search turn_endgame runs/turn/net.safetensors --oop "QQ+,AK" -n 64 --no-judge --json
    """
    if exact + zero + (net is not None) > 1:
        raise SpecError("a network, --exact and --zero cannot be combined; give only one")
    if net is None and not exact and not zero:
        raise SpecError(
            "leaf values are missing; name a network after the spot (a folder of treeplex train rebel, or the "
            "shipped rebel or hands), or give --exact or --zero"
        )
    if out is not None and judge is False:
        raise SpecError("--out saves an evaluated strategy; remove --no-judge")
    with Live(progress) as live:
        live.say("reading the spot")
        from treeplex.forms.sources.load import load
        from treeplex.holdem.cli.shared.requests import usable
        from treeplex.holdem.spots.spot import Spot
        from treeplex.learn.first_street.search import ITERATIONS, METHOD, RIVER, search_spot
        from treeplex.search import ZeroLeaf

        turn = load(described("search", spot or "turn_endgame", more).game)
        if not isinstance(turn, Spot):
            raise SpecError(f"{spot} is not a hold'em spot; name a spot file or turn_endgame")
        if turn.settings.locks:
            raise SpecError(f"{turn.settings.locks[0].place}: search does not support node locks; remove them")
        if out is not None and usable(out) and not force:
            raise FileError(f"{out} already exists; choose another name, or overwrite it (--force)")
        searched = search_spot(
            turn,
            ZeroLeaf() if zero else net,
            iterations=ITERATIONS if iterations is None else iterations,
            method=METHOD if method is None else method,
            river=RIVER if river is None else river,
            threads=threads,
            judge=True if out is not None else judge,
            progress=lambda now: live.say(line_of(now)),
        )
        saved = None
        if out is not None and searched.played is not None:
            saved = searched.played.save(out)
    if as_json:
        print_json(record_of(searched))
    else:
        print_search(searched, saved)
    if searched.status == "interrupted":
        fail(f"stopped after {searched.search.iteration:,} iterations; the results are those so far", STOPPED)


def big_blind(spot: "Spot") -> float | None:
    """The spot's smallest bet in chips; None if it has none."""
    from treeplex.holdem.betting.bet_plan import BetPlan

    return spot.bets.min_bet if isinstance(spot.bets, BetPlan) else None


def record_of(result: "SearchedSpot") -> dict[str, Any]:
    """The JSON output."""
    played, pot, blind = result.played, result.spot.opening_pot, big_blind(result.spot)
    oop, ip = result.spot.committed
    chips = None if played is None else played.exploitability
    return {
        "iterations": result.search.iteration,
        "method": result.method,
        "values": result.values,
        "unlike": result.unlike,
        "seconds": result.seconds,
        "cpu_seconds": result.cpu_seconds,
        "judging_seconds": result.judging_seconds,
        "first": dict(result.actions),
        "ev_oop": result.ev[0] + oop,
        "ev_ip": result.ev[1] + ip,
        "played_ev_oop": None if played is None else played.ev[0] + oop,
        "played_ev_ip": None if played is None else played.ev[1] + ip,
        "exploitability": chips,
        "exploitability_percent": None if chips is None or not pot else 100 * chips / pot,
        "exploitability_mbb": None if chips is None or not blind else 1000 * chips / blind,
    }


def print_search(result: "SearchedSpot", saved: Path | None) -> None:
    """Print the root strategy, EVs, exploitability, time and next steps."""
    from treeplex.holdem.study.report.page_data import PLAYERS

    spot, played, net = result.spot, result.played, result.net
    often = ", ".join(f"{name} {100 * share:.1f}%" for name, share in result.actions.items())
    facts = {f"{PLAYERS[result.first]} first": often}
    facts |= evs_of(spot, result.ev if played is None else played.ev)
    if played is None:
        facts["exploitability"] = "not evaluated; EVs are the search's estimates"
    else:
        blind = big_blind(spot)
        small = f", {short(1000 * played.exploitability / blind)} mbb/hand" if blind else ""
        facts["exploitability"] = amount_and_share(played.exploitability, spot) + small
        facts["judged"] = f"average policy, endgames solved with {result.river} iterations of dcfr at its beliefs"
    kinds = {"exact": "exact: endgames solved in every iteration", "zero": "zero: later streets ignored"}
    facts["values"] = kinds.get(result.values, result.values) if net is None else f"{result.values}   {card_text(net.card)}"
    if net is not None and "judged" in net.card:
        facts["model card"] = judged_text(net.card)
    if result.unlike:
        facts["beware"] = f"the network was not trained for this spot, which has {', '.join(result.unlike)}"
    judging = f", and {three_digits(result.judging_seconds)} s for judging" if played is not None else ""
    facts["time"] = f"{three_digits(result.seconds)} s{judging}"
    if saved is not None:
        facts["file"] = str(saved)
    print_facts(facts, title=f"{spot} searched by {result.method}: {counted(result.search.iteration)}")
    if saved is None:
        print_next([("treeplex holdem search ... --out turn.spot", "save the strategy to browse it")])
    else:
        print_next([(f"treeplex show {quoted(str(saved))}", "browse the strategy")])


def judged_text(card: Any) -> str:
    """The network's measured exploitability, from its model card."""
    judged, pot = card["judged"], card["spot"]["pot"]
    share = short(100 * judged["exploitability"] / pot)
    return f"{share}% of the pot of {pot:g} on its own spot, {judged['iterations']} iterations of {judged['method']}"


def card_text(card: Any) -> str:
    """The amount of training, from the network's model card."""
    if "situations" in card:
        return f"{card['situations']:,} situations"
    return f"{card.get('games', 0):,} games, {card.get('rows', 0):,} rivers"
