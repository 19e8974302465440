"""``treeplex holdem solve``: solve a spot."""

from typing import TYPE_CHECKING, Any

import typer

from treeplex.errors import SpecError
from treeplex.play.cli.arguments import Json
from treeplex.play.cli.commands import command
from treeplex.play.cli.console import print_facts, print_json
from treeplex.play.cli.failures import STOPPED, TARGET_MISSED, fail
from treeplex.play.cli.holdem import options as of
from treeplex.play.cli.holdem.show import shell_word, short
from treeplex.play.cli.live import Live, clock
from treeplex.spot_table import FIELDS

if TYPE_CHECKING:
    from treeplex.games.poker.spots.fields import SolveFields
    from treeplex.games.poker.spots.spot import Spot
    from treeplex.play.cli.holdem.requests import Solving
    from treeplex.runs.job.record import Progress


@command("Solve a spot.", place=10, example="solve examples/spots/turn.yaml --out turn.spot")
@of.with_fields(*FIELDS)
def solve(
    *,
    file: of.SpotFile = None,
    options: of.Options,
    endgame: of.Endgame = None,
    decoding: of.Decoding = None,
    phh: of.Phh = None,
    hand: of.HandNumber = None,
    street: of.HandStreet = None,
    out: of.Out = None,
    resume: of.Resume = None,
    force: of.Overwrite = False,
    estimate: of.Estimate = False,
    as_json: Json = False,
    progress: of.Progress = None,
) -> None:
    """Solve a heads-up hold'em spot from the flop, turn or river on: from a spot file, options, or both.

    Stops at the target, or after -n iterations (default: at 0.5% of the pot, after 1,000 at most). Exit code 3: the
    target was not reached. Ctrl-C finishes the iteration, saves (without --out into a new file) and says how to resume;
    a second Ctrl-C stops at once: without judging or, within an iteration, without saving. EVs are in chips, the pot
    included: a fold is worth 0. exploitability_bb of --json is for --endgame only (else null): big blinds as papers on
    these games count them, with each range normalised to one and pairs of hands that share a card included.

    --estimate prints the number of decisions, the memory and the time, without building anything. A spot that does not fit into
    memory is always refused.

    \b
    Examples:
      treeplex holdem solve examples/spots/turn.yaml --target 0.3% --out turn.spot
      treeplex holdem solve --board "Td 9d 6h Qc 2s" --oop "66+,AJs+" --ip "QQ-22,ATs+" --pot 200 --stack 900 --bets 50%,a
      treeplex holdem solve examples/spots/river.yaml --lock "x [QQ+]: x 100%"
      treeplex holdem solve --resume turn.spot --target 0.1%
      treeplex holdem solve flop.yaml --estimate
      treeplex holdem solve --endgame subgame3.txt -a dcfr -n 1000 --json
    """
    from treeplex.play.cli.holdem.requests import prepare, read_task

    sources = {"endgame": endgame, "decoding": decoding, "phh": phh, "hand": hand, "street": street}
    if estimate:
        task = read_task(file, options, sources, resume)
        if task.spot is None:
            raise SpecError("--estimate is for spots that are not solved yet; leave --resume out")
        print_estimate(task.spot, task.settings, as_json=as_json)
        return
    with Live(progress) as live:
        live.say("reading the spot")
        solving = prepare(file, options, sources, out=out, resume=resume, force=force)
        live.say(f"building {solving.title}")
        solving.run(lambda now: live.say(solving_line(now, solving.spot.opening_pot)))
    if as_json:
        print_json(record_of(solving))
    else:
        print_solution(solving)
    if solving.interrupted:
        go_on = f"treeplex holdem solve --resume {shell_word(str(solving.saved))}"
        fail(f"stopped after {solving.solution.iterations:,} iterations; saved; resume with {go_on}", STOPPED)
    if solving.missed:
        raise typer.Exit(TARGET_MISSED)


def print_estimate(spot: "Spot", settings: "SolveFields | None" = None, *, as_json: bool) -> None:
    """Say what solving a spot will take; ``settings`` are those of the spot where none are given."""
    from treeplex.runs.job.memory import estimate_spot
    from treeplex.solvers.registry import DEFAULT_ALGORITHM

    how = settings or spot.settings
    found = estimate_spot(spot, how.algorithm or DEFAULT_ALGORITHM, threads=how.threads, isomorphism=not how.locks)
    if not as_json:
        print_facts(found.facts(), title=str(spot))
        return
    size = found.size
    print_json(
        {
            "nodes": size.nodes,
            "boards": size.boards,
            "decisions": size.decisions,
            "infosets": size.infosets,
            "numbers": size.stored,
            "memory_mb": {kind: needed / 1e6 for kind, needed in found.memory.items()},
            "available_mb": None if found.available is None else found.available / 1e6,
            "seconds_per_iteration": found.seconds,
            "threads": found.threads,
            "fits": {kind: found.fits(kind) for kind in found.memory},
        }
    )


def solving_line(progress: "Progress", pot: float, *, most: bool = True) -> str:
    """The live line: iterations, exploitability in chips and of the pot, pace, and (``most``) the time left without target."""
    parts = [f"{progress.name}  iteration {progress.done:,}/{progress.total:,}"]
    if "exploitability" in progress.numbers:
        parts.append(f"exploitability {chips_and_share(progress.numbers['exploitability'], pot)}")
    parts.append(f"{progress.rate:,.0f} it/s" if progress.rate >= 10 else f"{progress.rate:.2g} it/s")
    if most and progress.seconds_left is not None:
        parts.append(f"at most {clock(progress.seconds_left)} left")
    return "  ".join(parts)


def chips_and_share(value: float, pot: float) -> str:
    """An exploitability in chips and in percent of the pot."""
    return f"{short(value)} chips, {short(100 * value / pot)}% of the pot" if pot else f"{short(value)} chips"


def print_solution(solving: "Solving") -> None:
    """Exploitability, EVs, what is done first, files, what to try next."""
    solution, pot = solving.solution, solving.spot.opening_pot
    if not solution.judged:
        typer.echo(f"stopped at iteration {solution.iterations:,}; exploitability and EVs are not known")
        return
    facts: dict[str, str] = {"exploitability": chips_and_share(solution.exploitability, pot)}
    if (blinds := papers_unit(solving)) is not None:
        facts["in papers"] = f"{short(blinds)} big blinds, as papers on the end games count them"
    if solution.target is not None:
        verdict = "not reached" if solving.missed else "reached"
        facts["target"] = f"{chips_and_share(solution.target, pot)}   {verdict}"
    facts |= evs_of(solving.spot, solution.ev)
    facts |= solving.first_actions()
    facts["memory"] = f"{solution.memory / 1e6:,.1f} MB, {solution.settings.threads} threads"
    if solving.saved:
        facts["file"] = str(solving.saved)
    count = f"{solution.iterations:,} iteration{'s' if solution.iterations != 1 else ''}"
    print_facts(facts, title=f"{solving.title} by {solution.algorithm}: {count} in {solution.seconds:.3g} s")
    typer.secho("next", bold=True)
    for step, purpose in next_steps(solving):
        typer.echo(f"  treeplex holdem {step}   {purpose}")


def evs_of(spot: "Spot", ev: tuple[float, float]) -> dict[str, str]:
    """Both players' EVs for people: what comes back of the pot, and what that is against their own chips in it."""
    rows = zip(("OOP", "IP"), ev, spot.committed, strict=True)
    return {
        f"EV {name}": f"{value + own:.3f} of the pot of {spot.opening_pot:g}   {value:+.3f} against {own:g} put in"
        for name, value, own in rows
    }


def papers_unit(solving: "Solving") -> float | None:
    """The exploitability of an end game as papers give it: in big blinds, the probability of sharing a card not divided out."""
    big = solving.task.big_blind
    return solving.solution.exploitability_unnormalised / big if big else None


def next_steps(solving: "Solving") -> list[tuple[str, str]]:
    """Commands to try, and what for."""
    from treeplex.solvers.registry import pace_of

    if not solving.saved:
        return [("solve ... --out first.spot", "keep the solution, to look at it")]
    where = shell_word(str(solving.saved))
    steps = [(f"show {where}", "look at the ranges"), (f"show {where} --html page.html", "a page to click through")]
    line = solving.task.line.rpartition(",")[0]
    if line:
        steps.insert(0, (f"show {where} --line {shell_word(line)}", "the last decision of the hand"))
    done = max(solving.solution.iterations, 1)
    more = min(2 * done, pace_of(solving.solution.algorithm) or 2 * done)
    if more > done:
        steps.append((f"solve --resume {where} -n {more}", "resume"))
    return steps


def record_of(solving: "Solving") -> dict[str, Any]:
    """What ``--json`` prints."""
    solution, spot = solving.solution, solving.spot
    pot, (oop, ip), judged = spot.opening_pot, spot.committed, solution.judged
    return {
        "iterations": solution.iterations,
        "seconds": solution.seconds,
        "seconds_per_iteration": solution.seconds / solution.iterations if solution.iterations else None,
        "threads": solution.settings.threads,
        "memory_mb": solution.memory / 1e6,
        "exploitability": solution.exploitability if judged else None,
        "exploitability_percent": 100 * solution.exploitability / pot if pot and judged else None,
        "exploitability_bb": papers_unit(solving) if judged else None,
        "ev_oop": solution.ev[0] + oop if judged else None,
        "ev_ip": solution.ev[1] + ip if judged else None,
    }
