"""``treeplex holdem dealer``, ``acpc``, ``slumbot`` and ``gtowizard``: whole hold'em against programs elsewhere."""

import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from treeplex.errors import GameError, SpecError
from treeplex.play.cli.shared.arguments import Json, ShowProgress, Think
from treeplex.play.cli.shared.commands import command
from treeplex.play.cli.shared.console import counted, print_facts, print_json, say
from treeplex.play.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.evaluate.match.agents import Agent
    from treeplex.games.poker.whole.hand import HandRules
    from treeplex.play.protocols.servers import ServedHands

KEY = "GTOWIZARD_API_KEY"
"""Environment variable with the key of the researchers' interface."""
AgentName = Annotated[str, typer.Argument(metavar="AGENT", help="An agent of treeplex agents, for these stacks.")]
Hands = Annotated[int, typer.Option("-n", "--hands", metavar="N", min=1, help="Hands.")]
Host = Annotated[str, typer.Option(metavar="HOST", help="Where the dealer is.")]
Port = Annotated[int, typer.Option(metavar="PORT", min=1, max=65535, help="Port.")]
Stack = Annotated[int, typer.Option(metavar="CHIPS", min=2, help="Chips of each player before each hand.")]
Blinds = Annotated[str, typer.Option(metavar="S,B", help="Small and big blind in chips.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of cards or draws.")]


def blinds_of(text: str) -> tuple[int, int]:
    """Small and big blind."""
    parts = text.split(",")
    if len(parts) != 2 or not all(part.strip().isdigit() for part in parts):
        raise SpecError(f"--blinds is {text!r}; write the small and the big one, such as 50,100")
    return int(parts[0]), int(parts[1])


@command("Deal to two programs by the competition's protocol.", place=62, example="dealer --port 18374 -n 1000")
def dealer(
    port: Port,
    hands: Hands = 1000,
    stack: Stack = 20_000,
    blinds: Blinds = "50,100",
    seed: SeedOption = 0,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Deal heads-up no-limit hold'em to two programs on this machine that speak the protocol of the ACPC, version 2.0.0.

    It waits for both on 127.0.0.1. Players change positions after each hand, and cards follow from the seed.

    \b
    Examples:
      treeplex holdem dealer --port 18374 -n 1000
    """
    from treeplex.play.protocols.acpc import Dealer
    from treeplex.play.protocols.outside import table_at

    rules = table_at(stack, blinds_of(blinds))[0].rules
    with Live(progress) as live, socket.create_server(("127.0.0.1", port)) as server:
        live.say(f"waiting for two players on port {port}")
        first, second = server.accept()[0], server.accept()[0]
        with first, second:
            dealing, done = Dealer(rules, (first, second)), 0

            def tell(line: str) -> None:
                nonlocal done
                done += 1
                live.say(f"{done:,}/{hands:,} hands, {dealing.won[0]:+,.0f} chips for the first player")

            won = dealing.play(hands, seed=seed, watch=tell)
    if as_json:
        print_json({"hands": hands, "won": won})
    else:
        big = rules.betting.big_blind
        result = f"{won[0]:+,.0f} chips, {1000 * won[0] / hands / big:+,.1f} mbb a hand"
        print_facts({"first player": result}, title=counted(hands, "hand"))


@command("Sit down with a dealer of the competition's protocol.", place=63, example="acpc 'rules(style=regular)' --port 18374")
def acpc(
    agent: AgentName,
    port: Port,
    host: Host = "127.0.0.1",
    stack: Stack = 20_000,
    blinds: Blinds = "50,100",
    seed: SeedOption = 0,
    think: Think = None,
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
            connection = socket.create_connection((host, port))
        except OSError as error:
            raise GameError(
                f"no dealer on {host}, port {port}: {error.strerror}; start one, or give --host and --port"
            ) from error
        with connection:
            count = play_acpc(connection, real.rules, player, seed=seed, watch=lambda hands: live.say(f"hand {hands:,}"))
    say(f"{counted(count, 'hand')} played")


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

    with Live(progress) as live:
        rules, player = seated(agent, think, seed)
        played = play_slumbot(url, rules, player, hands, seed=seed, watch=told(live, hands))
    print_played(played, as_json)


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
    with Live(progress) as live:
        rules, player = seated(agent, think, seed)
        played = play_gto_wizard(url, key, rules, player, hands, seed=seed, watch=told(live, hands))
    print_played(played, as_json)


def seated(agent: str, think: str | None, seed: int) -> "tuple[HandRules, Agent]":
    """The servers' rules, and an agent for them."""
    from treeplex.play.protocols.outside import table_at
    from treeplex.play.protocols.servers import BLINDS, STACK
    from treeplex.runs.agents.registry import agent as agent_named

    real, ours = table_at(STACK, BLINDS)
    return real.rules, agent_named(agent, ours, think=think, seed=seed)


def told(live: Live, hands: int) -> Callable[[int, float], None]:
    """Says how far a match is."""
    return lambda done, won: live.say(f"{done:,}/{hands:,} hands, {won:+,.0f} chips")


def print_played(played: "ServedHands", as_json: bool) -> None:
    """What was won."""
    from statistics import fmean, stdev

    from treeplex.play.protocols.servers import BLINDS

    found = {}
    for name, chips in (("won", played.won), ("adjusted", played.adjusted)):
        if chips:
            error = 1000 * stdev(chips) / len(chips) ** 0.5 / BLINDS[1] if len(chips) > 1 else 0.0
            found[name] = {"mbb_per_hand": 1000 * fmean(chips) / BLINDS[1], "stderr": error}
    if as_json:
        print_json({"hands": len(played.won), **found})
        return
    facts = {
        name: f"{each['mbb_per_hand']:+,.0f} mbb a hand, standard error {each['stderr']:,.0f}" for name, each in found.items()
    }
    print_facts(facts, title=counted(len(played.won), "hand"))
