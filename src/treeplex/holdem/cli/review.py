"""``treeplex holdem review``: review a played hand street by street."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeplex.base.digits import short
from treeplex.base.spec import quoted
from treeplex.holdem.cli.shared.texts import amount, echo_table, per_cent
from treeplex.run.cli.shared.arguments import Json, ShowProgress
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import print_facts, print_json, say
from treeplex.run.cli.shared.failures import STOPPED, fail
from treeplex.run.cli.shared.live import Live
from treeplex.run.job.progress_line import line_of

if TYPE_CHECKING:
    from treeplex.holdem.study.review.review import Review, ReviewedHands, StreetReview
    from treeplex.run.job.record import Progress

PERCENT = 100.0


@command("Review a player's decisions in a hand history.", place=37, example="review hand.txt --out runs/hand")
def review(
    *,
    file: Annotated[Path, typer.Argument(metavar="HAND", help="Hand history: PokerStars or GGPoker text, .phh or .phhs.")],
    number: Annotated[
        int | None, typer.Option("--hand", metavar="N", min=1, help="Number of the hand in the file. Default: all hands.")
    ] = None,
    hero: Annotated[
        str | None,
        typer.Option("--hero", metavar="NAME|oop|ip", help="Player to review. Default: the player whose cards are shown."),
    ] = None,
    oop: Annotated[
        str | None, typer.Option("--oop", metavar="RANGE", help="Starting range out of position. Default: by position.")
    ] = None,
    ip: Annotated[
        str | None, typer.Option("--ip", metavar="RANGE", help="Starting range in position. Default: by position.")
    ] = None,
    street: Annotated[
        str | None,
        typer.Option(
            "--street",
            metavar="STREET",
            help="First street to review: flop, turn or river. Default: the first heads-up street.",
        ),
    ] = None,
    bets: Annotated[
        str | None, typer.Option("--bets", metavar="SIZES", help="Extra bet sizes. Default: chosen for a quick solve.")
    ] = None,
    raises: Annotated[
        str | None, typer.Option("--raises", metavar="SIZES", help="Extra raise sizes. Default: chosen for a quick solve.")
    ] = None,
    target: Annotated[
        float | None,
        typer.Option(
            "--target",
            metavar="PERCENT",
            min=0.01,
            max=50,
            help="Exploitability to reach on each street, in percent of the pot. Default: 0.5.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Save solved streets in this folder and reuse those already there."),
    ] = None,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Review a player's decisions from the first heads-up street on: EV loss and verdict (best, mixed or mistake).

    All hands of the file are reviewed. Those without a heads-up street or with unknown cards are counted with the reason.
    Each street is solved as a spot whose bet sizes include those of the hand. Its ranges follow from the previous street's
    solution and the line played. Flops take a minute or more. Rake is ignored. Needs pip install pokerkit.

    \b
    Examples:
      treeplex holdem review hand.txt
      treeplex holdem review hands.txt --street turn --out runs/evening
      treeplex holdem review hands.txt --hand 3
      treeplex holdem review hand.phh --hero Ann --oop "22+,A2s+" --ip "TT-22,ATs+" --json
    \f
    Starting ranges are typical for the positions, unless --oop and --ip are given. A decision is "best" if it is the
    solution's most frequent action with the hand, and "mixed" if the solution sometimes takes it or it loses nothing. All
    others are mistakes, and so is any action that loses more than 3% of the pot. --street turn is faster, but uses the
    starting ranges unchanged. With --out, treeplex show reads the solved streets. With Ctrl-C the review stops, and the same
    command resumes it.
    """
    with Live(progress) as live:
        live.say("reading the hand")
        from treeplex.errors import JobInterrupt
        from treeplex.holdem.study.review.review import SHARE, ReviewSettings, review, review_hands, review_json

        settings = ReviewSettings(
            ranges=(oop, ip),
            first=None if street is None else street.lower(),
            bets=bets,
            raises=raises,
            share=SHARE if target is None else target / PERCENT,
            folder=out,
        )

        def watch(name: str, state: "Progress", pot: float) -> None:
            live.say(f"{name}  {line_of(state)}")

        def watch_hand(hand: int, name: str, state: "Progress", pot: float) -> None:
            live.say(f"hand {hand}  {name}  {line_of(state)}")

        try:
            if number is None and hands_in(file) > 1:
                hands: ReviewedHands | None = review_hands(file, hero=hero, settings=settings, progress=watch_hand)
            else:
                hands = None
                hand_review = review(file, number=number or 1, hero=hero, settings=settings, progress=watch)
        except JobInterrupt:
            again = "the same command resumes" if out else "add --out DIR to make reviews resumable"
            fail(f"stopped; {again}", STOPPED)
    if hands is not None:
        if as_json:
            print_json(hands.to_json())
        else:
            print_hands(hands)
    elif as_json:
        print_json(review_json(hand_review))
    else:
        print_review(hand_review)


def hands_in(file: Path) -> int:
    """The number of hands in a file."""
    from treeplex.base.storage.reading import MOST_TEXT, read_bytes
    from treeplex.holdem.study.report.hand_history import count_hands

    return count_hands(read_bytes(file, most=MOST_TEXT).decode("utf-8-sig", errors="replace"))


def print_hands(hands: "ReviewedHands") -> None:
    """Print the reviews of several hands, the hands that were skipped, and the sum."""
    for number, hand_review in hands.reviews.items():
        say(f"hand {number}", bold=True)
        print_review(hand_review)
        typer.echo("")
    for number, reason in hands.skipped.items():
        typer.echo(f"hand {number} skipped: {reason}")
    count = len(hands.reviews) + len(hands.skipped)
    lost = sum(made.lost / made.hand.big_blind for made in hands.reviews.values())
    skipped = f", {len(hands.skipped)} skipped" if hands.skipped else ""
    say(f"{count} hands: {len(hands.reviews)} reviewed{skipped}; {short(lost)} bb lost in all", bold=True)


def print_review(hand_review: "Review") -> None:
    """Print a human-readable review."""
    from treeplex.holdem.study.review.review import VERDICTS

    hand = hand_review.hand
    who, other = hand.hero, 1 - hand.hero
    facts = {
        "judged": f"{hand.names[who]}, {hand.parts[who].position}, {hand.cards[who]}",
        "against": f"{hand.names[other]}, {hand.parts[other].position}, {hand.cards[other] or 'cards unknown'}",
    }
    print_facts(facts, title=hand.title or "hand")
    for street in hand_review.streets:
        print_street(street, hand.big_blind)
    said = [choice.verdict for street in hand_review.streets for choice in street.choices]
    counts = ", ".join(f"{said.count(verdict)} {verdict}" for verdict in VERDICTS if verdict in said)
    typer.echo("")
    say(f"{counts or 'no decision'}; {short(hand_review.lost / hand.big_blind)} bb lost in all", bold=True)


def in_blinds(action: str, big_blind: float) -> str:
    """An action with its amount in big blinds: ``bet 120`` is ``bet 6 bb``."""
    kind, _, chips = action.replace("allin", "all-in").partition(" ")
    return f"{kind} {float(chips) / big_blind:.4g} bb" if chips else kind


def print_street(street: "StreetReview", big_blind: float) -> None:
    """Print one street: its spot, each decision, and the command that shows more."""

    spot, board = street.solution.spot, street.hand.board
    cards = " ".join(board[index : index + 2] for index in range(0, len(board), 2))
    typer.echo("")
    left = 100 * street.solution.exploitability / spot.opening_pot
    pot = f"pot {short(street.hand.pot / big_blind)} bb, {short(street.hand.stack / big_blind)} bb behind"
    say(f"{street.street}  {cards}   {pot}; equity {per_cent(street.equity)}; solved to {left:.2f}% of the pot", bold=True)
    for note in street.notes:
        typer.secho(f"  {note}", dim=True)
    for choice in street.choices:
        rows = []
        for index, name in enumerate(choice.actions):
            mark = "played" if index == choice.played else ""
            ev = amount(choice.ev[index] / big_blind, False)
            rows.append([in_blinds(name, big_blind), per_cent(choice.frequency[index]), ev, mark])
        say(f"  {choice.line or 'first to act'}: {in_blinds(choice.actions[choice.played], big_blind)}")
        echo_table(["    action", "solution", "EV in bb", ""], [[f"    {row[0]}", *row[1:]] for row in rows])
        lost = f", {choice.lost / big_blind:.2f} bb lost" if choice.lost / big_blind >= 0.005 else ""
        colour = {"best": "green", "mixed": "yellow", "mistake": "red"}[choice.verdict]
        typer.secho(f"    {choice.verdict}{lost}", fg=colour)
    if not street.choices:
        typer.echo("  no decision of this player on this street")
    if street.solution.folder is not None:
        typer.secho(f"  treeplex show {quoted(str(street.solution.folder))} --line {quoted(street.line)}", dim=True)
