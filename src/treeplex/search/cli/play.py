"""``treeplex play``: play at the terminal against an agent or a policy."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from treeplex.base.wings import named
from treeplex.errors import GameError, SpecError, TreeplexError
from treeplex.run.cli.shared.arguments import AnyGameArgument, DealSeed, PlayThink
from treeplex.run.cli.shared.commands import command, described, refuse_more, with_wing_options
from treeplex.run.cli.shared.console import counted, say
from treeplex.run.cli.shared.failures import STOPPED
from treeplex.run.cli.shared.live import Live

if TYPE_CHECKING:
    from collections.abc import Callable

    from treeplex.games.base import Game
    from treeplex.search.agents.agent import Agent, Thought
    from treeplex.search.tables.table import Table

QUIT = ("q", "quit", "exit")
WITHOUT_BET = {"call": "check"}
"""Replacements for action names that do not apply when there is nothing to call."""
ALL_IN = ("all in", "allin", "shove", "jam")
"""Synonyms of ``all-in``."""
MOST_LIKE = 8
"""Maximum number of consecutive bets that are listed one by one."""


class PlayerLeft(Exception):  # noqa: N818 (no error)
    """Raised when the person quits."""


@dataclass(frozen=True)
class Seat:
    """A person's options for play; None if not given.

    Attributes:
        game: the game as text.
        against: the opponent, see :func:`treeplex.agent`.
        seat: the person's seat.
        games: maximum number of games.
        iterations, think: limits per search.
        seed: random seed for deals and draws.
        more: options that other packages add.
    """

    game: str | None
    against: str | None
    seat: str | None
    games: int | None
    iterations: int | None
    think: str | None
    seed: int | None
    more: Mapping[str, Any]

    def opponent(self, rules: "Game", against: str) -> "Agent":
        """Create the agent that a text specifies."""
        from treeplex.search.tables.seating import agent_against_person, seed_of_draws

        return agent_against_person(against, rules, self.iterations, self.think, seed_of_draws(self.seed))


@command("Play against an agent or a policy.", place=140, example='play "liars_dice(faces=4)" --against rebel')
@with_wing_options("play")
def play(
    *,
    game: AnyGameArgument = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="WHOM",
            help="Opponent: an agent (see treeplex agents), policy file, run folder or training folder, my.py:MyAgent "
            "or my.py:MyLeaf. Default in hold'em: resolver heads-up (rebel where it cannot play), else rules.",
        ),
    ] = None,
    seat: Annotated[
        str | None,
        typer.Option(
            metavar="SEAT",
            help="Your player number, from 0; oop or ip in spots, button or bb in full-game hold'em. Default: alternate.",
        ),
    ] = None,
    games: Annotated[
        int | None, typer.Option("-n", "--games", metavar="N", min=1, help="Stop after N games. Default: no limit.")
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(
            metavar="T", min=1, help="Iterations per search. Default: the agent's setting, or 128 with a custom leaf."
        ),
    ] = None,
    think: PlayThink = None,
    seed: DealSeed = None,
    more: Mapping[str, Any],
) -> None:
    """Play a game in the terminal against an agent, a policy or a trained network.

    Answer with the number or the name of an action. Type quit, Ctrl-D or Ctrl-C to end. The opponent rebel uses a trained
    network, which ships with Treeplex for some games. The time and iterations of the opponent's searches are shown.

    \b
    Examples:
      treeplex play "liars_dice(dice=1,faces=4)" --against rebel
      treeplex play leduc_poker --against runs/leduc --seat 1
      treeplex play leduc_poker --against "search(depth=3)" --think 500ms
      treeplex play "holdem(stack=100)" -n 20 --phh hands
    \f
    rebel:NAME selects one of several trained networks. With --think a search ends when the time is up.

    In hold'em spots hands are dealt from the ranges. You can also type other bets: b1500 (total chips on this street), bet
    75% or raise to 4000. A size outside the spot is added, and the street is searched again. Results are chips won or lost
    relative to half of the starting pot. After a hand the agent estimates the EV that each of your decisions lost against
    its average strategy. "rebel(drawn=true)" plays a random iteration of its search, as in the paper, which no opponent can
    exploit by more than the search's error. "search(leaf=exact)" solves rivers in every iteration.

    Full-game hold'em is holdem(...), from the blinds to the showdown. The blinds rotate after each hand, and amounts are
    in big blinds. Answer with fold, check, call, raise to 7bb, bet 75%, half pot or all in. Your mistakes are listed after
    each hand, by charts and solves or, with --review, by solving the streets again. --phh saves the hands, for example for
    treeplex holdem review.

    \b
    More examples:
      treeplex play "liars_dice(dice=1,faces=4)" --against runs/dice
      treeplex play kuhn_poker --against uniform
      treeplex play kuhn_poker --against "my.py:MyAgent(depth=3)"
      treeplex play turn_endgame --bets 100%,a --raises a --seat ip -n 20 --log hands.txt
      treeplex play examples/spots/turn.yaml --against "search(leaf=exact)" --boards --iterations 16
      treeplex play "holdem(stack=200)" --against "rules(style=maniac)" --seat button --review river
      treeplex play turn.yaml --against turn.spot --drill --seat ip --only "top pair,flush draw" -n 20
    """
    with Live(None) as live:
        live.say(f"setting up {game or 'the game'}")
        from treeplex.forms.sources.load import load
        from treeplex.search.tables.seating import table_for

        named_game = described("play", game, more).game
        if named_game is None:
            raise typer.BadParameter("name a GAME, or describe a spot with options")
        rules = load(named_game)
        wanted = Seat(game, against, seat, games, iterations, think, seed, more)
        if not rules.terminal:
            refuse_more("play", more, str(game))
            if against is None:
                raise SpecError("no opponent given; name one: --against uniform, a run folder or an agent (treeplex agents)")
            table, opponent = table_for(named_game, against, iterations, think, seed)
    if rules.terminal:
        named(rules.terminal)(rules, wanted)
        return
    if seat is not None and not (seat.isdecimal() and int(seat) < table.players):
        raise SpecError(f"--seat is {seat}; write 0 to {table.players - 1}")
    say(f"against {opponent}")
    sit(table, None if seat is None else int(seat), games)


def sit(table: "Table", seat: int | None, games: int | None, *, finished: "Callable[[int, int], None] | None" = None) -> None:
    """Play games until the person quits.

    Args:
        table: the game and the opponent.
        seat: the person's seat; None to alternate.
        games: maximum number of games; None for no limit.
        finished: called after each game with its number, from 1, and the person's seat.
    """
    results: list[float] = []

    def one(number: int) -> None:
        person = seat if seat is not None else number % table.players
        say(f"game {number + 1}: you are {table.seat(person)}", bold=True)
        results.append(one_game(table, person))
        say(f"  {table.outcome(person)}   {score(results)}\n")
        if finished is not None:
            finished(len(results), person)

    until_left(one, games, lambda: say(f"{score(results) if results else 'no game was finished'}; thank you for playing"))


def until_left(one: "Callable[[int], None]", games: int | None, end: "Callable[[], None]") -> None:
    """Play games until the person quits.

    Args:
        one: function that plays a game, given its number from 0; :class:`PlayerLeft` raised in it ends the session.
        games: maximum number of games; None for no limit.
        end: function that prints the result. After an error it is called only if a game was finished.
    """
    number, stopped = 0, False
    try:
        while games is None or number < games:
            one(number)
            number += 1
    except PlayerLeft:
        say("")
    except KeyboardInterrupt:
        say("")
        stopped = True
    except TreeplexError:
        if number:
            end()
        raise
    end()
    if stopped:
        raise typer.Exit(STOPPED)


def one_game(table: "Table", person: int) -> float:
    """Play one game; returns the person's payoff."""
    with thinking():
        table.begin(person)
    while (actor := table.actor) is not None:
        options = table.options()
        if actor == person:
            show(table, [f"you know   {table.view(person) or 'nothing yet'}"])
            action = asked(table, options)
        else:
            with thinking():
                action = table.reply()
            thought = table.thought()
            if table.seen_by(person):
                say(f"  {table.seat(actor)}   {options[action]}" + ("" if thought is None else f"   ({thought_text(thought)})"))
        with thinking():
            table.play(action)
    known = [f"{table.seat(i)} knew   {text}" + ("   (you)" if i == person else "") for i, text in enumerate(table.shown())]
    show(table, known + table.review(person))
    return table.returns()[person]


def thought_text(thought: "Thought") -> str:
    """Describe the search behind an action."""
    boards = f", {thought.boards} boards below leaves" if thought.boards else ""
    return f"{counted(thought.iterations)} in {thought.seconds:.2g} s{boards}"


def thinking() -> Live:
    """Create the progress line that is shown when the opponent thinks for long."""
    live = Live(None)
    live.say("thinking")
    return live


def show(table: "Table", known: list[str]) -> None:
    """Print the picture of the game, if there is one, and the person's information."""
    picture = table.picture()
    if picture is not None:
        say("".join(f"    {line}\n" for line in picture.splitlines()), nl=False)
    for text in known:
        first, *others = text.splitlines() or [""]
        say(f"  {first}")
        for line in others:
            say("  " + " " * (first.find("   ") + 3) + line)


def listed(names: list[str]) -> list[str]:
    """List actions with their numbers; of many consecutive bets one chip apart, only the first and the last are shown."""

    def run(numbered: tuple[int, str]) -> tuple[str, int]:
        word, _, chips = numbered[1].rpartition(" ")
        return (word, int(chips) - numbered[0]) if chips.isdecimal() else ("", numbered[0])

    lines: list[str] = []
    for _, group in groupby(enumerate(names, start=1), run):
        like = [f"{number} {name}" for number, name in group]
        lines += like if len(like) <= MOST_LIKE else [f"{like[0]} ... {like[-1]}"]
    return lines


def typed_move() -> str:
    """Prompt the person for a move and return the line.

    Raises:
        PlayerLeft: the person quits, or the input ends.
    """
    say("  your move: ", nl=False)
    line = sys.stdin.readline()
    if not line or line.strip().lower() in QUIT:
        raise PlayerLeft
    return line.strip()


def asked(table: "Table", options: dict[int, str]) -> int:
    """Read an action from the person: a number, a name or the table's notation."""
    numbered, lowered = list(options.items()), {name.lower() for name in options.values()}
    all_in = next((action for action, name in numbered if name.lower().startswith(("all-in", "allin"))), None)
    say("  " + "   ".join(listed([name for _, name in numbered])))
    while True:
        line = typed_move()
        text = line.lower()
        if text in (*ALL_IN, "all-in") and all_in is not None:
            return all_in
        text = WITHOUT_BET.get(text, text) if text not in lowered and WITHOUT_BET.get(text) in lowered else text
        by_name = [action for action, name in numbered if name.lower() == text]
        near = [action for action, name in numbered if text and name.lower().startswith(text)]
        if by_name:
            return by_name[0]
        if text.isdecimal() and 1 <= int(text) <= len(numbered):
            return numbered[int(text) - 1][0]
        try:
            with thinking():
                meant = table.named(text)
        except (GameError, SpecError) as error:
            say(f"  {error}")
            continue
        if meant is not None:
            return meant
        if len(near) == 1:
            return near[0]
        say("  " + (f"{line!r} is not one of the actions; " if text else "") + "type a number or a name, or quit")


def score(results: list[float]) -> str:
    """Describe the number of games and payoffs so far."""
    count = len(results)
    return f"after {count} game{'s' if count != 1 else ''}: {sum(results):+g}"
