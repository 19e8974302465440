"""``treeplex holdem dealer``, ``acpc``, ``slumbot`` and ``gtowizard``: whole hold'em against programs elsewhere."""

import os
import socket
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple, TextIO

import typer

from treeplex.errors import FileError, GameError, SpecError
from treeplex.play.cli.shared.arguments import Json, ShowProgress, Think
from treeplex.play.cli.shared.commands import command
from treeplex.play.cli.shared.console import print_facts, print_json, say
from treeplex.play.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.play.protocols.servers import ServedHand

KEY = "GTOWIZARD_API_KEY"
"""Environment variable with the key of the researchers' interface."""
AgentName = Annotated[str, typer.Argument(metavar="AGENT", help="An agent of treeplex agents, for these stacks.")]
Hands = Annotated[int, typer.Option("-n", "--hands", metavar="N", min=1, help="Hands.")]
Host = Annotated[str, typer.Option(metavar="HOST", help="Where the dealer is.")]
Port = Annotated[int, typer.Option(metavar="PORT", min=1, max=65535, help="Port.")]
Stack = Annotated[int, typer.Option(metavar="CHIPS", min=2, help="Chips of each player before each hand.")]
Blinds = Annotated[str, typer.Option(metavar="S,B", help="Small and big blind in chips.")]
Timeout = Annotated[float, typer.Option("--timeout", metavar="SECONDS", min=0.1, help="How long to wait for the other side.")]
"""The competition gave ten minutes for an action."""
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of cards or draws.")]


def blinds_of(text: str) -> tuple[int, int]:
    """Small and big blind."""
    parts = text.split(",")
    if len(parts) != 2 or not all(part.strip().isdigit() for part in parts):
        raise SpecError(f"--blinds is {text!r}; write the small and the big one, such as 50,100")
    return int(parts[0]), int(parts[1])


@command("Deal to two programs by the competition's protocol.", place=62)
def dealer(
    port: Port,
    hands: Hands = 1000,
    stack: Stack = 20_000,
    blinds: Blinds = "50,100",
    seed: SeedOption = 0,
    log: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the hands here, as the competition's logs.")] = None,
    timeout: Timeout = 600.0,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Deal heads-up no-limit hold'em to two programs on this machine that speak the protocol of the ACPC, version 2.0.0.

    It waits for both on 127.0.0.1. Players change positions after each hand, and cards follow from the seed. An answer that the
    rules do not allow becomes the nearest raise, or a call.

    \b
    Examples:
      treeplex holdem dealer --port 18374 -n 1000 --log match.log
    """
    from treeplex.play.protocols.acpc import Dealer
    from treeplex.play.protocols.outside import table_at

    rules = table_at(stack, blinds_of(blinds))[0].rules
    with Live(progress) as live, listening(port) as server, new_log(log) as file:
        live.say(f"waiting for two players on port {port}")
        first, second = server.accept()[0], server.accept()[0]
        with first, second:
            for connection in (first, second):
                connection.settimeout(timeout)
            dealing, done = Dealer(rules, (first, second)), 0

            def tell(line: str) -> None:
                nonlocal done
                done += 1
                live.say(f"{done:,}/{hands:,} hands, {dealing.won[0]:+,.0f} chips for the first player")
                if file is not None:
                    print(line, file=file, flush=True)

            won = dealing.play(hands, seed=seed, watch=tell)
            if file is not None:
                print(f"SCORE:{'|'.join(f'{chips:g}' for chips in won)}:0|1", file=file)
    if as_json:
        print_json({"hands": hands, "won": won, "not_allowed": dealing.mended})
        return
    big = rules.betting.big_blind
    facts = {"first player": f"{won[0]:+,.0f} chips, {1000 * won[0] / hands / big:+,.1f} mbb a hand"}
    if any(dealing.mended):
        facts["answers not allowed"] = f"{dealing.mended[0]:,} of the first player, {dealing.mended[1]:,} of the second"
    print_facts(facts, title=f"{hands:,} hands")


@contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """A server's end on this machine."""
    try:
        server = socket.create_server(("127.0.0.1", port))
    except OSError as error:
        raise GameError(f"port {port} cannot be had: {os.strerror(error.errno or 0)}; give another one with --port") from error
    with server:
        yield server


@contextmanager
def new_log(path: Path | None) -> Iterator[TextIO | None]:
    """A new file to write a log into, if one was named."""
    if path is None:
        yield None
        return
    try:
        file = path.open("x", encoding="utf-8")
    except FileExistsError:
        raise FileError(f"{path} is there already; name another file with --log") from None
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror}; name another file with --log") from error
    with file:
        yield file


@command("Sit down with a dealer of the competition's protocol.", place=63)
def acpc(
    agent: AgentName,
    port: Port,
    host: Host = "127.0.0.1",
    stack: Stack = 20_000,
    blinds: Blinds = "50,100",
    seed: SeedOption = 0,
    think: Think = None,
    timeout: Timeout = 600.0,
    progress: ShowProgress = None,
) -> None:
    """Let an agent play with a dealer of the ACPC protocol until that closes the connection.

    The agent plays in the fewest chips (half a big blind where the small blind is half of the big one); bets of others in
    between are taken for the nearest.

    \b
    Examples:
      treeplex holdem acpc "endgames(blueprint=runs/deep)" --port 18374
    """
    from treeplex.play.protocols.acpc import play_acpc
    from treeplex.play.protocols.outside import table_at
    from treeplex.runs.agents.registry import agent as agent_named

    with Live(progress) as live:
        live.say("preparing")
        real, ours = table_at(stack, blinds_of(blinds))
        player = agent_named(agent, ours, think=think, seed=seed)
        try:
            connection = socket.create_connection((host, port), timeout)
        except OSError as error:
            raise GameError(
                f"no dealer on {host}, port {port}: {error.strerror}; start one, or give --host and --port"
            ) from error
        with connection:
            count = play_acpc(connection, real.rules, player, seed=seed, watch=lambda hands: live.say(f"hand {hands:,}"))
    say(f"{count:,} {'hand' if count == 1 else 'hands'} played")


@command("Play Slumbot.", place=64)
def slumbot(
    agent: AgentName,
    url: Annotated[str, typer.Option("--url", metavar="URL", help="The server, such as https://slumbot.com/slumbot.")],
    hands: Hands = 100,
    seed: SeedOption = 0,
    think: Think = None,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Let an agent play Slumbot over its public interface: blinds of 50 and 100, 20,000 chips.

    \b
    Examples:
      treeplex holdem slumbot "endgames(blueprint=runs/deep)" --url https://slumbot.com/slumbot -n 200
    """
    from treeplex.play.protocols.servers import play_slumbot

    play_served(partial(play_slumbot, url), Served(agent, think, hands, seed), progress, as_json)


@command("Play GTO Wizard's AI by its interface for researchers.", place=65)
def gtowizard(
    agent: AgentName,
    url: Annotated[str, typer.Option("--url", metavar="URL", help="The server, such as https://researcher.gtowizard.com.")],
    hands: Hands = 100,
    seed: SeedOption = 0,
    think: Think = None,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Let an agent play GTO Wizard's AI; the key is read from the environment variable GTOWIZARD_API_KEY.

    \b
    Examples:
      treeplex holdem gtowizard "endgames(blueprint=runs/deep)" --url https://researcher.gtowizard.com -n 200
    """
    from treeplex.play.protocols.servers import play_gto_wizard

    key = os.environ.get(KEY, "")
    if not key:
        raise SpecError(f"the server wants a key; set the environment variable {KEY}")
    play_served(partial(play_gto_wizard, url, key), Served(agent, think, hands, seed), progress, as_json)


class Served(NamedTuple):
    """Who plays at a server, with how much time, how many hands, and the seed of the draws."""

    agent: str
    think: str | None
    hands: int
    seed: int


def play_served(play: "Callable[..., Iterable[ServedHand]]", asked: Served, progress: bool | None, as_json: bool) -> None:
    """Play at a server, and say what was won; of the hands before it as well where something goes wrong or Ctrl-C ends it."""
    from treeplex.play.protocols.outside import table_at
    from treeplex.play.protocols.servers import BLINDS, STACK
    from treeplex.runs.agents.registry import agent as agent_named

    played: list[ServedHand] = []
    try:
        with Live(progress) as live:
            live.say("preparing")
            real, ours = table_at(STACK, BLINDS)
            player = agent_named(asked.agent, ours, think=asked.think, seed=asked.seed)
            for hand in play(real.rules, player, asked.hands, seed=asked.seed):
                played.append(hand)
                live.say(f"{len(played):,}/{asked.hands:,} hands, {sum(each.won for each in played):+,.0f} chips")
    finally:
        if played:
            print_played(played, as_json)


def print_played(played: "list[ServedHand]", as_json: bool) -> None:
    """What was won."""
    from statistics import fmean, stdev

    from treeplex.play.protocols.servers import BLINDS

    found = {}
    adjusted = [each.adjusted for each in played if each.adjusted is not None]
    for name, chips in (("won", [each.won for each in played]), ("adjusted", adjusted)):
        if chips:
            error = 1000 * stdev(chips) / len(chips) ** 0.5 / BLINDS[1] if len(chips) > 1 else 0.0
            found[name] = {"mbb_per_hand": 1000 * fmean(chips) / BLINDS[1], "stderr": error}
    if as_json:
        print_json({"hands": len(played), **found})
        return
    facts = {
        name: f"{each['mbb_per_hand']:+,.0f} mbb a hand, standard error {each['stderr']:,.0f}" for name, each in found.items()
    }
    print_facts(facts, title=f"{len(played):,} {'hand' if len(played) == 1 else 'hands'}")
