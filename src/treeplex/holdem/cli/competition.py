"""``treeplex holdem dealer`` and ``acpc``: hold'em over the protocol of the Annual Computer Poker Competition."""

import errno
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated

import typer

from treeplex.base.storage.files import append_line
from treeplex.base.storage.reading import reason
from treeplex.errors import FileError, GameError, SpecError, printable
from treeplex.holdem.cli.shared.elsewhere import AgentName, SeedOption, Timeout, end_of
from treeplex.run.cli.shared.arguments import Json, ShowProgress, Think
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import counted, print_facts, print_json, say
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.holdem.protocols.acpc import Dealer

MOST_NOTES = 10
"""Maximum number of dealer notes that are printed."""
Hands = Annotated[int, typer.Option("-n", "--hands", metavar="N", min=1, help="Number of hands.")]
Host = Annotated[str, typer.Option(metavar="HOST", help="Address of the dealer.")]
Port = Annotated[int, typer.Option(metavar="PORT", min=1, max=65535, help="Port of the dealer.")]
Stack = Annotated[int, typer.Option(metavar="CHIPS", min=2, help="Starting stack of each player in chips, for every hand.")]
Blinds = Annotated[str, typer.Option(metavar="S,B", help="Small and big blind in chips.")]
PerHand = Annotated[float, typer.Option(metavar="SECONDS", min=0.001, max=1e6, help="Maximum time per player for one hand.")]
Average = Annotated[
    float,
    typer.Option(metavar="SECONDS", min=0.001, max=1e6, help="Maximum average time per hand for each player."),
]
Log = Annotated[Path | None, typer.Option(metavar="FILE", help="Write the match to a new file in the ACPC log format.")]
Start = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", min=0.001, max=1e6, help="Maximum wait for both players to connect. Default: no limit."),
]


def blinds_of(text: str) -> tuple[int, int]:
    """Small and big blind."""
    parts = text.split(",")
    if len(parts) != 2 or not all(part.strip().isascii() and part.strip().isdigit() for part in parts):
        raise SpecError(f"--blinds is {text!r}; write the small and the big blind, such as 50,100")
    return int(parts[0]), int(parts[1])


def notes() -> Callable[[str], None]:
    """Return a function that prints a dealer's notes on stderr, up to :data:`MOST_NOTES` of them."""
    said = 0

    def tell(note: str) -> None:
        nonlocal said
        said += 1
        if said <= MOST_NOTES:
            typer.echo(f"note: {printable(note)}", err=True)
        if said == MOST_NOTES:
            typer.echo("note: further notes are not shown", err=True)

    return tell


@command("Run a dealer of the ACPC protocol for two programs.", place=62, example="dealer --port 18374 -n 1000")
def dealer(
    port: Port,
    hands: Hands = 1000,
    stack: Stack = 20_000,
    blinds: Blinds = "50,100",
    seed: SeedOption = 0,
    timeout: Timeout = 600.0,
    per_hand: PerHand = 600.0,
    average: Average = 7.0,
    start: Start = None,
    log: Log = None,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Deal heads-up no-limit hold'em to two programs on this machine that speak the ACPC protocol, version 2.0.0.

    The dealer waits for both players on 127.0.0.1. Players swap positions after each hand, and the seed determines the
    cards. As with the competition's dealer, an illegal response becomes a call or the nearest legal raise, and a note is
    printed. A player who exceeds a time limit ends the match. The default limits are those of the competition's dealer.
    --log writes each hand as it ends, and the score after the last hand.

    \b
    Examples:
      treeplex holdem dealer --port 18374 -n 1000
      treeplex holdem dealer --port 18374 -n 1000 --timeout 30 --log match.log
    """
    from treeplex.holdem.protocols.acpc import Dealer, Limits
    from treeplex.holdem.protocols.outside import table_at

    check_free(log)
    limits, stopped = Limits(timeout, per_hand, average), None
    game = f"holdem(stack={stack},blinds={blinds})".replace(" ", "")
    rules = table_at(stack, blinds_of(blinds))[0].rules
    with Live(progress) as live, listening(port) as server:
        live.say(f"waiting for two players on port {port}")
        with connected(server, start) as players:
            dealing = Dealer(rules, players, limits=limits, tell=notes())

            def tell(line: str) -> None:
                keep(log, line)
                live.say(f"{dealing.dealt:,}/{hands:,} hands, {dealing.won[0]:+,.0f} chips for the first player")

            try:
                for line in dealing.opening("match" if log is None else log.name, game, hands, seed):
                    keep(log, line)
                dealing.play(hands, seed=seed, watch=tell)
                keep(log, dealing.score)
            except (Exception, KeyboardInterrupt) as error:
                stopped = error
    print_dealt(dealing, as_json)
    if log is not None and not as_json:
        say(f"file {log}")
    end_of(stopped, counted(dealing.dealt, "hand"))


def check_free(path: Path | None) -> None:
    """Check that a file can be created: its folder exists and the file does not.

    Raises:
        FileError: the file exists, or its folder does not.
    """
    if path is not None and path.exists():
        raise FileError(f"{path} already exists; choose another file with --log, or move this one")
    if path is not None and not path.parent.is_dir():
        raise FileError(f"cannot write {path}: there is no folder {path.parent}; create it first")


def keep(path: Path | None, line: str) -> None:
    """Append a line to a file; does nothing without a path.

    Raises:
        FileError: the file cannot be written.
    """
    if path is not None:
        append_line(path, line)


def print_dealt(dealing: "Dealer", as_json: bool) -> None:
    """Print the players' winnings if at least one hand has ended."""
    if as_json:
        print_json({"hands": dealing.dealt, "won": dealing.won, "not_allowed": dealing.replaced})
    elif dealing.dealt:
        chips, big = dealing.won[0], dealing.rules.betting.big_blind
        facts = {"first player": f"{chips:+,.0f} chips, {1000 * chips / dealing.dealt / big:+,.1f} mbb/hand"}
        if any(dealing.replaced):
            facts["answers not allowed"] = "{:,} of the first player, {:,} of the second".format(*dealing.replaced)
        print_facts(facts, title=counted(dealing.dealt, "hand"))


def listening(port: int) -> socket.socket:
    """A server socket on this machine.

    Raises:
        GameError: the port is in use, or needs privileges.
    """
    try:
        return socket.create_server(("127.0.0.1", port))
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise GameError(f"port {port} is in use by another program; stop it, or give another --port") from error
        raise GameError(f"cannot listen on port {port}: {reason(error)}; choose a --port above 1023") from error


@contextmanager
def connected(server: socket.socket, seconds: float | None) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Wait for two players to connect; return their connections.

    Raises:
        GameError: fewer connect within ``seconds``.
    """
    came, until = list[socket.socket](), monotonic() + (seconds or 0.0)
    with ExitStack() as opened:
        while len(came) < 2:
            try:
                server.settimeout(None if seconds is None else max(until - monotonic(), 0.001))
                came.append(opened.enter_context(server.accept()[0]))
            except TimeoutError as error:
                raise GameError(
                    f"only {len(came)} of the two players connected within {seconds:g} s; start both, or allow more "
                    "time with --start"
                ) from error
        yield came[0], came[1]


@command("Connect an agent to a dealer of the ACPC protocol.", place=63, example="acpc 'rules(style=regular)' --port 18374")
def acpc(
    agent: AgentName,
    port: Port,
    host: Host = "127.0.0.1",
    stack: Stack = 20_000,
    blinds: Blinds = "50,100",
    seed: SeedOption = 0,
    think: Think = None,
    timeout: Timeout = 900.0,
    progress: ShowProgress = None,
) -> None:
    """Connect an agent to a dealer over the ACPC protocol and play until the dealer closes the connection.

    The agent plays with the largest chip unit that divides both blinds, usually half a big blind. Opponents' bets are
    rounded to it.

    \b
    Examples:
      treeplex holdem acpc "endgames(blueprint=runs/deep)" --port 18374
    """
    from treeplex.holdem.protocols.acpc import play_acpc
    from treeplex.holdem.protocols.outside import table_at
    from treeplex.search.named_agents.registry import agent as agent_named

    with Live(progress) as live:
        live.say("preparing")
        real, ours = table_at(stack, blinds_of(blinds))
        player = agent_named(agent, ours, think=think, seed=seed)
        try:
            connection = socket.create_connection((host, port), timeout=timeout)
        except OSError as error:
            raise GameError(
                f"no dealer on {host}, port {port}: {reason(error)}; start one, or give --host and --port"
            ) from error

        def tell(hands: int) -> None:
            live.say(f"hand {hands:,}")

        with connection:
            count = play_acpc(connection, real.rules, player, seed=seed, timeout=timeout, watch=tell)
    say(f"{counted(count, 'hand')} played")
