"""``treeplex holdem slumbot`` and ``gtowizard``: hold'em matches against HTTP servers."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from treeplex.errors import SpecError
from treeplex.holdem.cli.shared.elsewhere import AgentName, SeedOption, Timeout, end_of
from treeplex.run.cli.shared.arguments import Json, ShowProgress, Think
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import counted, print_facts, print_json, say
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from treeplex.holdem.protocols.served import ServedHand
    from treeplex.holdem.protocols.servers import Server

KEY = "GTOWIZARD_API_KEY"
"""Environment variable that holds the key of the research interface."""
ServedHands = Annotated[
    int, typer.Option("-n", "--hands", metavar="N", min=1, help="Total number of hands, including those already in --out.")
]
Out = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Save each finished hand to this JSON Lines file, and resume the match from it."),
]


@command("Play Slumbot.", place=64)
def slumbot(
    agent: AgentName,
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="Address of the server, such as https://slumbot.com/slumbot.")
    ],
    hands: ServedHands = 100,
    seed: SeedOption = 0,
    think: Think = None,
    timeout: Timeout = 180.0,
    out: Out = None,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Play an agent against Slumbot over its public interface, with blinds of 50 and 100 and 20,000 chips.

    Requests for a hand are retried if the server is busy or cannot be reached. An action is sent again only if the
    connection was refused. With --out each finished hand is saved, and the same command resumes the match. Ctrl-C ends the
    match after the current hand.

    \b
    Examples:
      treeplex holdem slumbot "endgames(blueprint=runs/deep)" --url https://slumbot.com/slumbot -n 200 --out slumbot.jsonl
    """
    from treeplex.holdem.protocols.servers import Slumbot

    play_served(Slumbot(url, timeout=timeout), ServedMatch(agent, think, seed, hands, out), progress, as_json)


@command("Play GTO Wizard's AI over its research interface.", place=65)
def gtowizard(
    agent: AgentName,
    url: Annotated[
        str, typer.Option("--url", metavar="URL", help="Address of the server, such as https://researcher.gtowizard.com.")
    ],
    hands: ServedHands = 100,
    seed: SeedOption = 0,
    think: Think = None,
    timeout: Timeout = 180.0,
    out: Out = None,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Play an agent against GTO Wizard's AI; the key is read from the environment variable GTOWIZARD_API_KEY.

    Requests for a hand are retried if the server is busy or cannot be reached. If an action gets no response, the client
    queries the state of the hand and resends the action only if the server has not received it. With --out each finished
    hand is saved, and the same command resumes the match. Ctrl-C ends the match after the current hand.

    \b
    Examples:
      treeplex holdem gtowizard "endgames(blueprint=runs/deep)" --url https://researcher.gtowizard.com --out gtowizard.jsonl
    """
    from treeplex.holdem.protocols.servers import GtoWizard

    key = os.environ.get(KEY, "")
    if not key:
        raise SpecError(f"the server needs a key; set the environment variable {KEY}")
    if not key.isascii() or not key.isprintable():
        raise SpecError(f"{KEY} contains characters that are not allowed in a key; set it to the key alone")
    play_served(GtoWizard(url, key, timeout=timeout), ServedMatch(agent, think, seed, hands, out), progress, as_json)


class ServedMatch(NamedTuple):
    """A match against a server.

    Attributes:
        agent: the agent's name.
        think: its time per decision, if it searches.
        seed: random seed for its actions.
        hands: total number of hands.
        out: file of the finished hands.
    """

    agent: str
    think: str | None
    seed: int
    hands: int
    out: Path | None


def play_served(server: "Server", match: ServedMatch, progress: bool | None, as_json: bool) -> None:
    """Play the remaining hands of a match; print the result over all hands, even if the match ends early."""
    from treeplex.holdem.protocols.outside import table_at
    from treeplex.holdem.protocols.served import HandsFile
    from treeplex.holdem.protocols.servers import BLINDS, STACK, hands_at
    from treeplex.run.job.interrupt import Interrupt
    from treeplex.search.named_agents.registry import agent as agent_named

    stopped: BaseException | None = None
    about = {"server": server.url, "agent": match.agent, "think": match.think}
    with Live(progress) as live, HandsFile(match.out, about) as file:
        live.say("preparing")
        real, ours = table_at(STACK, BLINDS)
        player = agent_named(match.agent, ours, think=match.think, seed=match.seed)
        numbers = range(len(file.hands), match.hands)
        try:
            with Interrupt() as interrupt:
                for hand in hands_at(server, real.rules, player, numbers, seed=match.seed):
                    file.add(hand)
                    live.say(f"{len(file.hands):,}/{match.hands:,} hands, {sum(hand.won for hand in file.hands):+,.0f} chips")
                    if interrupt.requested and len(file.hands) < match.hands:
                        raise KeyboardInterrupt
        except (Exception, KeyboardInterrupt) as error:
            stopped = error
    print_played(file.hands, match.out, as_json)
    saved = "; run the same command again to resume" if match.out is not None else ""
    end_of(stopped, counted(len(file.hands), "hand") + saved)


def print_played(hands: "Sequence[ServedHand]", out: Path | None, as_json: bool) -> None:
    """Print the winnings if at least one hand has ended."""
    summaries = {
        name: summary_of(chips)
        for name in ("won", "adjusted")
        if (chips := [value for value in (getattr(hand, name) for hand in hands) if value is not None])
    }
    if as_json:
        print_json({"hands": len(hands), **summaries})
        return
    if summaries:
        print_facts({name: summary_text(summary) for name, summary in summaries.items()}, title=counted(len(hands), "hand"))
    if out is not None:
        say(f"file {out}")


def summary_of(chips: Sequence[float]) -> dict[str, Any]:
    """Mean winnings in mbb/hand, the standard error and the 95% interval; None if there are too few hands."""
    from statistics import fmean, stdev

    from treeplex.holdem.protocols.servers import BLINDS
    from treeplex.search.evaluate.statistics import FEWEST_DEALS, half_width

    mean = 1000 * fmean(chips) / BLINDS[1]
    if len(chips) < 2:
        return {"mbb_per_hand": mean, "stderr": None, "interval": None}
    error = 1000 * stdev(chips) / len(chips) ** 0.5 / BLINDS[1]
    half = half_width(error, len(chips))
    interval = None if len(chips) < FEWEST_DEALS else [mean - half, mean + half]
    return {"mbb_per_hand": mean, "stderr": error, "interval": interval}


def summary_text(summary: dict[str, Any]) -> str:
    """The summary as text."""
    from treeplex.search.evaluate.statistics import FEWEST_DEALS

    if summary["interval"] is None:
        return f"{summary['mbb_per_hand']:+,.0f} mbb/hand; no 95% interval for fewer than {FEWEST_DEALS} hands"
    low, high = summary["interval"]
    return f"{summary['mbb_per_hand']:+,.0f} mbb/hand, 95% interval {low:+,.0f} to {high:+,.0f}"
