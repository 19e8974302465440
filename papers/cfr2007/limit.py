"""Limit hold'em in buckets by CFR with sampled chance, or by full sweeps: solve, show strategies, and play matches.

    python -m papers.cfr2007.limit solve --game "bucketed_holdem(buckets=5)" -n 2000000 --out runs/five
    python -m papers.cfr2007.limit solve --game "bucketed_holdem(buckets=8)" -a dcfr+ -n 150 --out runs/eight
    python -m papers.cfr2007.limit solve --resume -n 20000000 --out runs/five
    python -m papers.cfr2007.limit show runs/five --line r
    python -m papers.cfr2007.limit match runs/five runs/eight --deals 50000

An iteration is one deal, or with ``-a dcfr`` (or cfr, cfr+, lcfr) a sweep over all deals. Ctrl-C saves. Exploitability is
inside the abstract game, in mbb/hand. ``match`` and ``show`` also take run folders of ``treeplex solve``.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from papers.cfr2007.match import play_limit
from papers.cfr2007.runs import LimitRun, LimitSettings, load_limit, read_settings, solve_limit
from papers.cfr2007.strategy import preflop_strategy
from papers.common.report import markdown
from papers.common.results import Table
from treeplex.base.notices import telling
from treeplex.errors import JobInterrupt, SpecError, TreeplexError
from treeplex.holdem.buckets.look import preflop_buckets

SETTINGS = ("game", "algorithm", "discount_every", "seed")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    found = argparse.ArgumentParser("papers.cfr2007.limit", description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = found.add_subparsers(required=True)
    solving = commands.add_parser("solve", help="solve an abstraction")
    solving.add_argument("--game", help="spec (default: bucketed_holdem)")
    solving.add_argument(
        "-n", "--iterations", type=int, default=2_000_000, help="total iterations, including those before a resume"
    )
    solving.add_argument("--out", type=Path, required=True, help="run folder")
    solving.add_argument("-a", "--algorithm", help="sampled (default), or a rule for full sweeps such as dcfr")
    solving.add_argument("--discount-every", type=int, help="discount linearly every N iterations (default: 0, plain CFR)")
    solving.add_argument("--seed", type=int, help="of the deals (default: 0)")
    solving.add_argument("--threads", type=int, default=1, help="one is deterministic; several share tables without locks")
    solving.add_argument("--evaluations", type=int, default=10, help="how often exploitability is computed")
    solving.add_argument("--resume", action="store_true", help="resume the run in --out")
    solving.add_argument("--force", action="store_true", help="overwrite the run in --out")
    solving.set_defaults(run=solve)
    showing = commands.add_parser("show", help="show the preflop strategy")
    showing.add_argument("folder", type=Path, help="run folder")
    showing.add_argument("--line", default="", help="preflop betting line: c for call, r for raise")
    showing.set_defaults(run=show)
    playing = commands.add_parser("match", help="play a match with real cards, each deal in both seats")
    playing.add_argument("folders", type=Path, nargs="+", help="run folders")
    playing.add_argument("--deals", type=int, default=20_000)
    playing.add_argument("--sampled", action="store_true", help="sample actions instead of weighting all betting")
    playing.add_argument("--seed", type=int, default=0, help="of the cards")
    playing.set_defaults(run=match)
    return found


def solve(given: argparse.Namespace) -> Table:
    """Solve an abstraction; returns its evaluations as a table.

    Raises:
        SpecError: settings that differ from those of the run that is resumed.
    """
    asked = {name: value for name in SETTINGS if (value := getattr(given, name)) is not None}
    settings = read_settings(given.out) if given.resume else LimitSettings(**asked)
    for name, value in asked.items():
        if value != getattr(settings, name):
            raise SpecError(f"{given.out} was run with {name} {getattr(settings, name)}, not {value}; start a new run")
    options = {name: getattr(given, name) for name in ("iterations", "evaluations", "out", "resume", "force", "threads")}
    try:
        run = solve_limit(settings, **options)
    except JobInterrupt as stopped:
        run = stopped.result
    return evaluations(run)


def evaluations(run: LimitRun) -> Table:
    """Table of a run's evaluations."""
    rows = [
        [f"{each.done:,}", f"{each.seconds:,.0f}", f"{each.exploitability:.2f}", "{:.1f} to {:.1f}".format(*each.bounds)]
        for each in run.records
    ]
    title = f"{run.settings.game}: {run.strategy.game.infosets:,} infosets; {run.status}; mbb/hand"
    return Table(title, ["iterations", "seconds", "exploitability", "worth to the big blind"], rows)


def show(given: argparse.Namespace) -> Table:
    """The preflop strategy, a row for each bucket."""
    strategy = load_limit(given.folder)
    node, groups = preflop_strategy(strategy, given.line), preflop_buckets(strategy.game.buckets)
    rows = [
        [str(number + 1), *(f"{share:.3f}" for share in shares), " ".join(group)]
        for number, (shares, group) in enumerate(zip(node.probabilities, groups, strict=True))
    ]
    seat = "small blind" if node.player == 1 else "big blind"
    title = f"{given.folder}: {seat} " + (f"after {given.line}" if given.line else "to act first")
    return Table(title, ["bucket", *node.actions, "hands"], rows)


def match(given: argparse.Namespace) -> Table:
    """Play every strategy against every other one."""
    found = play_limit([load_limit(folder) for folder in given.folders], given.deals, seed=given.seed, sampled=given.sampled)
    title = f"mbb/hand won by the row from the column, ± one standard error; {found.deals:,} deals in both seats"
    return Table(title, ["", *found.names], [[name, *found.cells(row)] for row, name in enumerate(found.names)])


def main(words: Sequence[str] | None = None) -> None:
    """Run a command and print its table.

    Raises:
        SystemExit: it failed.
    """
    given = parser().parse_args(words)
    try:
        with telling(lambda text: print(text, flush=True)):
            table = given.run(given)
    except TreeplexError as error:
        raise SystemExit(str(error)) from None
    print(markdown(table))


if __name__ == "__main__":
    main()
