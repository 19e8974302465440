"""``treeplex holdem buckets`` and ``treeplex holdem limit``: limit hold'em with bucketed cards."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeplex.errors import SpecError
from treeplex.holdem.cli.shared import options as of
from treeplex.run.cli.shared.arguments import DealSeed, Force, Json, ShowProgress
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import print_json, print_table
from treeplex.run.cli.shared.failures import STOPPED, fail
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.holdem.buckets.game import BucketGame
    from treeplex.holdem.limit.run import LimitRun, LimitSettings

HELP = """Limit hold'em with bucketed cards, as in the paper that introduced CFR (Zinkevich et al. 2007).

\b
  treeplex holdem limit solve --buckets 5 -n 2000000 --out runs/five
  treeplex holdem limit solve --resume --out runs/five -n 20000000
  treeplex holdem limit show runs/five
  treeplex holdem limit match runs/five runs/six
  treeplex holdem limit play runs/five
"""

Counts = Annotated[
    str, typer.Option("--buckets", metavar="N", help="Buckets of each street: one number, or four separated by commas.")
]
Method = Annotated[str, typer.Option(metavar="NAME", help="percentile, kmeans or kmeans-pair.")]
Nested = Annotated[
    bool, typer.Option("--nested/--flat", help="Divide hands anew after every sequence of buckets, or once for all.")
]
Iterations = Annotated[int, typer.Option("-n", "--iterations", metavar="N", help="Deals in total; with -a sweeps.")]
Boards = Annotated[
    int, typer.Option(metavar="N", min=1, help="Random boards to cut river buckets and to count pairs of buckets.")
]
Cards = Annotated[str, typer.Option(metavar="FORMAT", help="holdem, or a smaller deck with the same streets, such as royal.")]


@command("Show hands by buckets of strength.", place=70, example="buckets --buckets 5")
def buckets(
    counts: Counts = "10",
    hand: Annotated[str | None, typer.Option(metavar="CARDS", help="A hand to look up, say AsKs.")] = None,
    board: Annotated[str, typer.Option(metavar="CARDS", help="A flop, turn or river board for it, say Td9d6hQc.")] = "",
    method: Method = "percentile",
    nested: Nested = True,
    cards: Cards = "holdem",
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Show into which bucket of strength hands fall.

    Strength is E[HS2], the expected square of the chance to win against a random hand. The first call rolls it out for every
    board, which takes half a minute, and keeps the table (87 MB) in the cache directory, $TREEPLEX_CACHE or the system's own.

    \b
    Examples:
      treeplex holdem buckets --buckets 5
      treeplex holdem buckets --hand AsKs --board Td9d6h
    """
    if board and not hand:
        raise SpecError("--board is of a hand; give --hand as well, say AsKs")
    with Live(progress):
        from treeplex.holdem.buckets.look import look_up, preflop_buckets

        found = game_from(counts, method, nested, cards).buckets
        lines = look_up(found, hand, board) if hand else None
        groups = preflop_buckets(found)
    if lines is not None:
        if as_json:
            print_json([vars(line) for line in lines])
        else:
            rows = [[line.street, f"{line.mean:.4f}", f"{line.square:.4f}", str(line.bucket + 1)] for line in lines]
            print_table(["street", "E[HS]", "E[HS2]", "bucket"], rows, title=f"{hand} {board}".strip(), right=(1, 2, 3))
    elif as_json:
        print_json([list(group) for group in groups])
    else:
        print_table(
            ["bucket", "hands"],
            [[str(number + 1), " ".join(group)] for number, group in enumerate(groups)],
            title="before the flop, weakest first",
            right=(0,),
        )


@command("Solve it.", place=10, group="limit")
def solve(
    context: typer.Context,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Run folder.")],
    counts: Counts = "5",
    iterations: Iterations = 2_000_000,
    method: Method = "percentile",
    nested: Nested = True,
    boards: Boards = 20_000,
    algorithm: Annotated[
        str,
        typer.Option(
            "-a",
            "--algorithm",
            metavar="NAME",
            help="sampled: the paper's, a deal an iteration; dcfr and others sweep all deals.",
        ),
    ] = "sampled",
    discount_every: Annotated[
        int, typer.Option(metavar="N", help="Linear CFR in steps of N iterations; 0 is the paper's plain CFR.")
    ] = 0,
    seed: Annotated[int, typer.Option(help="Seed of boards and deals.")] = 0,
    threads: Annotated[int, typer.Option(help="One is deterministic; more share tables without locks.")] = 1,
    evaluations: Annotated[int, typer.Option(help="How often exploitability is computed.")] = 10,
    cards: Cards = "holdem",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    force: Force = False,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Solve limit hold'em with bucketed cards, by CFR with sampled chance as in the paper or by full sweeps.

    An iteration is one deal; with -a dcfr (or cfr, cfr+, lcfr) a sweep of all of them. Ctrl-C saves; --resume goes on, with -n
    counting all iterations. Exploitability is that inside the abstract game, in thousandths of a big blind per hand.

    \b
    Examples:
      treeplex holdem limit solve --buckets 5 -n 2000000 --out runs/five
      treeplex holdem limit solve --resume --out runs/five -n 20000000
      treeplex holdem limit solve --cards royal --buckets 3 -n 100000 --out runs/small
      treeplex holdem limit solve --buckets 8 -a dcfr -n 200 --out runs/eight
    """
    with Live(progress):
        from treeplex.errors import Interrupted
        from treeplex.holdem.limit.run import LimitSettings, read_settings, solve_limit

        game = game_from(counts, method, nested, cards, boards, seed)
        settings = LimitSettings(game.spec, seed, algorithm, discount_every)
        if resume:
            asked, settings = settings, read_settings(out)
            check_unchanged(context, out, asked, settings)
        try:
            run = solve_limit(
                settings,
                iterations=iterations,
                evaluations=evaluations,
                out=out,
                resume=resume,
                force=force,
                threads=threads,
            )
        except Interrupted as stopped:
            run = stopped.result
    if as_json:
        records = [{"iteration": each.done, "seconds": each.seconds, **each.numbers} for each in run.records]
        print_json({"game": run.settings.game, "infosets": run.strategy.game.infosets, "records": records})
    else:
        print_run(run)
    if run.status == "interrupted":
        fail(f"stopped; saved: go on with treeplex holdem limit solve --resume --out {out} -n {iterations}", STOPPED)


OF_GAME = ("counts", "method", "nested", "boards", "cards", "seed")
"""Options of ``solve`` that are in the game's spec."""


def check_unchanged(context: typer.Context, out: Path, asked: "LimitSettings", begun: "LimitSettings") -> None:
    """A run goes on as it was begun: options that are given with ``--resume`` are those of then.

    Raises:
        SpecError: one is not.
    """
    for setting, options in {"game": OF_GAME, "algorithm": ("algorithm",), "discount_every": ("discount_every",)}.items():
        sources = [context.get_parameter_source(name) for name in options]
        given = any(source is not None and source.name == "COMMANDLINE" for source in sources)
        old, new = getattr(begun, setting), getattr(asked, setting)
        if given and old != new:
            raise SpecError(f"{out} was run with {setting} {old}, not {new}; leave it out or start a new run")


def print_run(run: "LimitRun") -> None:
    """What a run came to."""
    rows = [
        [
            f"{record.done:,}",
            f"{record.seconds:,.0f}",
            f"{record.exploitability:.2f}",
            "{:.1f} to {:.1f}".format(*record.bounds),
        ]
        for record in run.records
    ]
    print_table(
        ["iterations", "seconds", "exploitability", "worth to the big blind"],
        rows,
        title=f"{run.settings.game}: {run.strategy.game.infosets:,} infosets; thousandths of a big blind per hand",
        right=(0, 1, 2, 3),
    )
    typer.echo(f"files in {run.folder}: run.json, metrics.jsonl, state.safetensors")


@command("Read the strategy before the flop.", place=20, group="limit")
def show(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A run folder.")],
    line: Annotated[str, typer.Option(metavar="LINE", help="Betting before the flop: c call, r raise; say r or cr.")] = "",
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Read the strategy before the flop.

    \b
    Examples:
      treeplex holdem limit show runs/five            the small blind's first action
      treeplex holdem limit show runs/five --line r   the big blind's answer to a raise
    """
    with Live(progress):
        from treeplex.holdem.buckets.look import preflop_buckets
        from treeplex.holdem.limit.policy import preflop_strategy
        from treeplex.holdem.limit.run import load_limit

        strategy = load_limit(folder)
        node = preflop_strategy(strategy, line)
        groups = preflop_buckets(strategy.game.buckets)
    if as_json:
        print_json({"player": node.player, "actions": list(node.actions), "strategy": node.probabilities.tolist()})
        return
    rows = [
        [str(number + 1), *(f"{share:.3f}" for share in node.probabilities[number]), " ".join(group)]
        for number, group in enumerate(groups)
    ]
    seat = "small blind" if node.player == 1 else "big blind"
    title = f"{folder}: {seat} " + (f"after {line}" if line else "to act first")
    print_table(["bucket", *node.actions, "hands"], rows, title=title, right=range(len(node.actions) + 1))


@command("Let run folders play each other.", place=30, group="limit")
def match(
    folders: Annotated[list[Path], typer.Argument(metavar="DIR DIR ...", help="Run folders.")],
    deals: Annotated[int, typer.Option(metavar="N", min=2, help="Deals; each is played in both seats.")] = 20_000,
    sampled: Annotated[bool, typer.Option("--sampled", help="Draw actions as at a table; else weigh all betting.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of the cards.")] = 0,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Let solved abstractions play each other with real cards.

    \b
    Examples:
      treeplex holdem limit match runs/five runs/six --deals 50000
    """
    with Live(progress) as live:
        from treeplex.holdem.limit.match import play_limit
        from treeplex.holdem.limit.run import load_limit

        strategies = [load_limit(folder) for folder in folders]
        result = play_limit(
            strategies, deals, seed=seed, sampled=sampled, done=lambda n, of: live.say(f"playing: {n:,} of {of:,} deals")
        )
    if as_json:
        print_json({"names": result.names, "deals": deals, "means": result.means.tolist(), "errors": result.errors.tolist()})
        return
    rows = [
        [name, *("" if i == j else f"{result.means[i, j]:+.1f} ± {result.errors[i, j]:.1f}" for j in range(len(result.names)))]
        for i, name in enumerate(result.names)
    ]
    title = f"what the row wins from the column, thousandths of a big blind per hand; {deals:,} deals in both seats"
    print_table(["", *result.names], rows, title=title, right=range(1, len(result.names) + 1))


@command("Play against a run folder.", place=40, group="limit")
def play(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The run folder that plays against you.")],
    seat: Annotated[
        str | None, typer.Option(metavar="SEAT", help="Your seat: button or bb. Default: the blinds move from hand to hand.")
    ] = None,
    hands: Annotated[
        int | None, typer.Option("-n", "--hands", metavar="N", min=1, help="Stop after N hands. Default: no limit.")
    ] = None,
    reveal: of.Reveal = False,
    log: of.Log = None,
    phh: of.SavedHands = None,
    seed: DealSeed = None,
) -> None:
    """Play limit hold'em in the terminal, with real cards, against a strategy in buckets.

    Answer with fold, check, call, bet, raise, or a number of the list; quit, Ctrl-D or Ctrl-C ends. All amounts are in big
    blinds. After a hand, mistakes are named as far as decisions can be judged; at the end, what all hands came to.

    \b
    Examples:
      treeplex holdem limit play runs/five
      treeplex holdem limit play runs/five --seat button -n 50 --phh hands
    """
    with Live(None) as live:
        live.say(f"setting up {folder}")
        import numpy as np

        from treeplex.holdem.limit.agent import LimitAgent, limit_holdem
        from treeplex.holdem.limit.run import load_limit
        from treeplex.holdem.tables.whole import WholeTable

        strategy = load_limit(folder)
        game, own = limit_holdem(strategy.game), None if seed is None else np.random.default_rng((seed, 1))
        agent = LimitAgent(game.public, strategy, own)
        table = WholeTable(agent, strategy.name, np.random.default_rng(seed))
        buckets = " x ".join(map(str, strategy.game.counts))
    from treeplex.holdem.cli.shared.hands import HandsPlan, play_hands

    play_hands(table, f"{folder}: {buckets} buckets", HandsPlan(seat, hands, reveal, log, phh))


def game_from(counts: str, method: str, nested: bool, cards: str, boards: int = 20_000, seed: int = 0) -> "BucketGame":
    """Options as a game."""
    from treeplex.errors import SpecError
    from treeplex.holdem.buckets.named import bucketed_holdem

    try:
        numbers = [int(part) for part in counts.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 4):
        raise SpecError(f"--buckets is {counts!r}; give one number, or four separated by commas, say 10 or 12,8,6,5")
    buckets = numbers[0] if len(numbers) == 1 else numbers
    return bucketed_holdem(
        buckets=buckets, method=method, nested=nested, cards=cards, boards=boards, river_boards=boards, seed=seed
    )
