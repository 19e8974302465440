"""``treeplex holdem solve``: solve a spot."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.base.digits import three_digits
from treeplex.base.spec import quoted
from treeplex.base.wings import named, provided_by_name
from treeplex.errors import SpecError
from treeplex.holdem.cli.shared import options as of
from treeplex.holdem.cli.shared.texts import short
from treeplex.holdem.spots.spot_table import FIELDS
from treeplex.run.cli.shared.arguments import Json, Ray
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import counted, print_facts, print_json, print_next
from treeplex.run.cli.shared.failures import STOPPED, TARGET_MISSED, fail
from treeplex.run.cli.shared.live import Live
from treeplex.run.job.progress_line import clock

if TYPE_CHECKING:
    from treeplex.holdem.cli.shared.requests import Task
    from treeplex.holdem.solve.solution import HoldemSolution
    from treeplex.holdem.spots.spot import Spot
    from treeplex.run.job.record import Progress


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
    start: of.Start = None,
    force: of.Overwrite = False,
    workers: Annotated[
        int | None, typer.Option(metavar="N", help="Processes that solve the boards below the first street.")
    ] = None,
    ray: Ray = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="With --until: how exploitable the first street is, all that follows solved.")
    ] = False,
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
    memory is always refused. --from solves the spot of a solution again with another --oop or --ip, or other bet sizes, from
    its regrets: with ranges not too different that takes a fraction of the iterations.

    --workers N holds the first street here and has processes solve the boards below it; the numbers do not depend on how many.
    A worker that dies is replaced. --storage packed keeps 16-bit numbers in fewer bits; --storage disk:FOLDER keeps them in
    files, so that memory holds a few boards at a time: the same command resumes such a run at its last iteration.

    --until turn solves a flop alone, --until river a turn: a network says what every hand is worth on each next card. That
    takes a fraction of the time and memory of a whole solve, and later streets stay unsolved: EVs are the network's, and
    exploitability is known only with --judge, which solves all that follows twice, with one player's first street fixed. It
    runs on one thread for -n iterations (default: 60), and takes no --target.

    \b
    Examples:
      treeplex holdem solve examples/spots/turn.yaml --target 0.3% --out turn.spot
      treeplex holdem solve --board "Td 9d 6h Qc 2s" --oop "66+,AJs+" --ip "QQ-22,ATs+" --pot 200 --stack 900 --bets 50%,a
      treeplex holdem solve examples/spots/river.yaml --lock "x [QQ+]: x 100%"
      treeplex holdem solve --resume turn.spot --target 0.1%
      treeplex holdem solve --from turn.spot --ip "QQ-22,ATs+:0.5" --out other.spot
      treeplex holdem solve flop.yaml --estimate
      treeplex holdem solve examples/spots/flop.yaml --board Ks8s3d --until turn -n 60 --out flop.spot
      treeplex holdem solve --endgame subgame3.txt -a dcfr -n 1000 --json
    """
    from treeplex.holdem.cli.shared.requests import read_task

    if estimate and (resume is not None or start is not None):
        other = "--resume" if resume is not None else "--from"
        raise SpecError(f"--estimate is for spots that are not solved yet; leave {other} out")
    if estimate and (workers is not None or ray is not None):
        raise SpecError("--estimate solves nothing; leave --workers and --ray out")
    sources = {"endgame": endgame, "decoding": decoding, "phh": phh, "hand": hand, "street": street, "from": start}
    if estimate:
        from treeplex.holdem.solve.spot_game import SpotGame
        from treeplex.run.cli.info import print_estimate

        task = read_task(file, options, sources)
        if options.get("net") is not None and not task.until:
            raise SpecError("--net is for --until, and --estimate for solves of all streets; leave --net out")
        if task.until:
            raise SpecError(f"--estimate is for solves of all streets; until {task.until} holds one board, so leave it out")
        print_estimate(SpotGame(task.spot).estimate(), as_json=as_json)
        return
    with Live(progress) as live:
        live.say("reading the spot")
        task = read_task(file, options, sources, out=out, resume=resume, force=force)
        check_first_street(task, options)
        if judge and not task.until:
            raise SpecError("--judge is for --until; whole solves are judged anyway, so leave it out")
        if judge:
            from treeplex.holdem.solve.first_street_judge import check_judging

            check_judging(task.spot)
        live.say(f"building {task.spot}")
        task.workers, task.ray = workers, ray
        solution, saved = task.solve(lambda now: live.say(solving_line(now, task.spot.opening_pot)))
        if judge and solution.status != "interrupted":
            solution = judged(solution, lambda done, total: live.say(f"judging: iteration {done:,} of {total:,}"))
    blinds = solution.exploitability_unnormalised / task.big_blind if task.big_blind else None
    if as_json:
        print_json(record_of(solution, blinds))
    else:
        print_solution(solution, blinds, saved, task.line)
    if solution.status == "interrupted":
        go_on = f"treeplex holdem solve --resume {quoted(str(saved))}"
        fail(f"stopped after {solution.iterations:,} iterations; saved; resume with {go_on}", STOPPED)
    if not solution.target_reached:
        raise typer.Exit(TARGET_MISSED)


def check_first_street(task: "Task", options: of.Options) -> None:
    """Refuse options that a solve of a first street alone does not heed; what its spot file says of them is for other solves.

    Raises:
        SpecError: there is one.
    """
    if not task.until:
        return
    if options.get("target") is not None:
        raise SpecError(
            "--target does not go with --until, which solves no later street, so that exploitability is not known; "
            "give -n, and --judge to know it afterwards"
        )
    if options.get("threads") not in (None, "1"):
        raise SpecError("--threads does not go with --until, which runs on one thread; leave it out")


def judged(solution: "HoldemSolution", watch: Callable[[int, int], None]) -> "HoldemSolution":
    """A solution of a first street with its exploitability, all that follows solved."""
    from treeplex.holdem.solve.first_street_judge import judge_first_street

    found = judge_first_street(solution, threads=solution.settings.threads, progress=watch)
    last = replace(solution.records[-1], numbers={"exploitability": found.exploitability})
    return replace(solution, records=(*solution.records[:-1], last))


def solving_line(progress: "Progress", pot: float, *, most: bool = True) -> str:
    """The live line: iterations, exploitability in chips and of the pot, pace, and (``most``) the time left without target."""
    parts = [f"{progress.name}  iteration {progress.done:,}/{progress.total:,}"]
    if "exploitability" in progress.numbers:
        parts.append(f"exploitability {chips_and_share(progress.numbers['exploitability'], pot)}")
    parts.append(f"{progress.rate:,.0f} it/s" if progress.rate >= 10 else f"{progress.rate:.2g} it/s")
    if "disk_mb_per_second" in progress.numbers:
        parts.append(f"disk {progress.numbers['disk_mb_per_second']:,.0f} MB/s a worker")
    if most and progress.seconds_left is not None:
        parts.append(f"at most {clock(progress.seconds_left)} left")
    return "  ".join(parts)


def chips_and_share(value: float, pot: float) -> str:
    """An exploitability in chips and in percent of the pot."""
    return f"{short(value)} chips, {short(100 * value / pot)}% of the pot" if pot else f"{short(value)} chips"


def print_solution(solution: "HoldemSolution", blinds: float | None, saved: Path | None, line: str) -> None:
    """Exploitability, EVs, what is done first, files, what to try next.

    Args:
        solution: the solution.
        blinds: its exploitability as papers on the end games give it, in big blinds; None for other spots.
        saved: its file, if any.
        line: how the hand history that the spot is from went on.
    """
    pot, until = solution.spot.opening_pot, solution.settings.until
    if not solution.judged and not until:
        typer.echo(f"stopped at iteration {solution.iterations:,}; exploitability and EVs are not known")
        return
    facts: dict[str, str] = {}
    if solution.judged:
        facts["exploitability"] = chips_and_share(solution.exploitability, pot) + (" on this street" if until else "")
    if until:
        unlike_training = named(provided_by_name("first_streets")["unlike_training"])
        facts["values"] = f"on the {until} by {solution.settings.net}; later streets are not solved"
        if differences := unlike_training(solution.spot, solution.settings.net):
            facts["beware"] = f"the network was not trained for this: the spot has {', '.join(differences)}"
    if blinds is not None:
        facts["in papers"] = f"{short(blinds)} big blinds, as papers on the end games count them"
    if solution.target is not None:
        verdict = "reached" if solution.target_reached else "not reached"
        facts["target"] = f"{chips_and_share(solution.target, pot)}   {verdict}"
    facts |= evs_of(solution.spot, solution.ev)
    facts |= first_actions(solution)
    if not until:
        facts["memory"] = f"{solution.memory / 1e6:,.1f} MB, {solution.settings.threads} threads"
    if solution.disk[1]:
        size, seconds = solution.disk
        facts["disk"] = f"{size / 1e9:,.2f} GB read and written at {size / 1e6 / seconds:,.0f} MB/s a worker"
    if saved:
        facts["file"] = str(saved)
    effort = f"{counted(solution.iterations)} in {three_digits(solution.seconds)} s"
    print_facts(facts, title=f"{solution.spot} by {solution.algorithm}: {effort}")
    print_next((f"treeplex holdem {step}", purpose) for step, purpose in next_steps(solution, saved, line))


def first_actions(solution: "HoldemSolution") -> dict[str, str]:
    """What the first player does, over the whole range."""
    from treeplex.holdem.study.report.export import node_report
    from treeplex.holdem.study.report.page_data import PLAYERS

    node = node_report(solution, "")
    if node.player is None:
        return {}
    often = zip(node.actions, node.sides[node.player].totals, strict=True)
    return {f"{PLAYERS[node.player]} first": ", ".join(f"{name} {100 * part:.1f}%" for name, part in often)}


def evs_of(spot: "Spot", ev: tuple[float, float]) -> dict[str, str]:
    """Both players' EVs for people: what comes back of the pot, and what that is against their own chips in it."""
    rows = zip(("OOP", "IP"), ev, spot.committed, strict=True)
    return {
        f"EV {name}": f"{value + own:.3f} of the pot of {spot.opening_pot:g}   {value:+.3f} against {own:g} put in"
        for name, value, own in rows
    }


def next_steps(solution: "HoldemSolution", saved: Path | None, line: str) -> list[tuple[str, str]]:
    """Commands to try, and what for."""
    if not saved:
        return [("solve ... --out first.spot", "keep the solution, to look at it")]
    where = quoted(str(saved))
    steps = [(f"show {where}", "look at the ranges"), (f"show {where} --html page.html", "a page to click through")]
    if decision := line.rpartition(",")[0]:
        steps.insert(0, (f"show {where} --line {quoted(decision)}", "the last decision of the hand"))
    done = max(solution.iterations, 1)
    more = min(2 * done, solution.longest or 2 * done)
    if more > done:
        steps.append((f"solve --resume {where} -n {more}", "resume"))
    return steps


def record_of(solution: "HoldemSolution", blinds: float | None) -> dict[str, Any]:
    """What ``--json`` prints; ``blinds`` as for :func:`print_solution`."""
    pot, (oop, ip), judged = solution.spot.opening_pot, solution.spot.committed, solution.judged
    until = solution.settings.until
    beyond = {"until": until, "net": solution.settings.net} if until else {}
    return {
        "iterations": solution.iterations,
        "seconds": solution.seconds,
        "seconds_per_iteration": solution.seconds / solution.iterations if solution.iterations else None,
        "threads": solution.settings.threads,
        "memory_mb": solution.memory / 1e6,
        "exploitability": solution.exploitability if judged else None,
        "exploitability_percent": 100 * solution.exploitability / pot if pot and judged else None,
        "exploitability_bb": blinds if judged else None,
        "ev_oop": solution.ev[0] + oop if judged or until else None,
        "ev_ip": solution.ev[1] + ip if judged or until else None,
        **beyond,
    }
