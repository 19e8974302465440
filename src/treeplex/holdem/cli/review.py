"""``treeplex holdem review``: review a played hand street by street, or the leaks of many hands."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from treeplex.base.digits import short
from treeplex.base.spec import quoted
from treeplex.holdem.cli.shared.texts import amount, echo_table, per_cent
from treeplex.run.cli.shared.arguments import Json, ShowProgress
from treeplex.run.cli.shared.commands import command
from treeplex.run.cli.shared.console import counted as counted_as
from treeplex.run.cli.shared.console import print_facts, print_json, say
from treeplex.run.cli.shared.failures import STOPPED, fail
from treeplex.run.cli.shared.live import Live
from treeplex.run.job.progress_line import line_of

if TYPE_CHECKING:
    from treeplex.holdem.study.review.leaks import Leak
    from treeplex.holdem.study.review.review import Review, StreetReview
    from treeplex.holdem.study.review.review_file import ReviewFile
    from treeplex.run.job.record import Progress

PERCENT = 100.0
FEW = 5
"""Number of hands listed, the largest losses first."""


@command("Review a player's decisions in hand histories.", place=37, example="review hands --out review.sqlite")
def review(
    *,
    source: Annotated[Path, typer.Argument(metavar="HANDS", help="A file of hand histories, or a folder of such files.")],
    number: Annotated[
        int | None, typer.Option("--hand", metavar="N", min=1, help="Show this hand with all its decisions.")
    ] = None,
    hero: Annotated[
        str | None,
        typer.Option("--hero", metavar="NAME|oop|ip", help="Player. Default: the one whose cards are shown."),
    ] = None,
    oop: Annotated[
        str | None, typer.Option("--oop", metavar="RANGE", help="Range out of position. Default: by position.")
    ] = None,
    ip: Annotated[str | None, typer.Option("--ip", metavar="RANGE", help="Range in position. Default: by position.")] = None,
    street: Annotated[
        str | None,
        typer.Option("--street", metavar="STREET", help="Street to start from. Default: the first heads-up one."),
    ] = None,
    bets: Annotated[
        str | None, typer.Option("--bets", metavar="SIZES", help="Extra bets. Default: chosen for a quick solve.")
    ] = None,
    raises: Annotated[
        str | None, typer.Option("--raises", metavar="SIZES", help="Extra raises. Default: for a quick solve.")
    ] = None,
    target: Annotated[
        float | None,
        typer.Option(
            "--target", metavar="PERCENT", min=0.01, max=50, help="Exploitability of each street in % of the pot. Default: 0.5."
        ),
    ] = None,
    budget: Annotated[
        str | None,
        typer.Option("--budget", metavar="TEXT", help="Memory and time per street: 2GB,30s. Default for many hands: 10s."),
    ] = None,
    by: Annotated[
        str | None, typer.Option("--by", metavar="COLUMNS", help="Group leaks by columns, such as street,action.")
    ] = None,
    csv: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Write all decisions of many hands to this file.")
    ] = None,
    phh: Annotated[
        Path | None, typer.Option("--phh", metavar="FILE", help="Write the reviewed hands to this .phhs file.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="PATH", help="Many hands: a file, review.sqlite. One hand: a folder of solved streets."),
    ] = None,
    as_json: Json = False,
    progress: ShowProgress = None,
) -> None:
    """Review a player's decisions from the first heads-up street on: EV loss and verdict (best, mixed or mistake).

    Many hands give a table of leaks: big blinds lost per 100 hands by position, street, action and board. With --out,
    repeating the command resumes, and reviews only new hands of a folder. Hands that cannot be reviewed are counted by reason.
    Needs pip install pokerkit.

    \b
    Examples:
      treeplex holdem review hands --out review.sqlite
      treeplex holdem review hands --out review.sqlite --by street,action --csv decisions.csv
      treeplex holdem review hands.txt --hand 3 --street turn --out runs/hand
      treeplex holdem review hand.phh --hero Ann --oop "22+,A2s+" --ip "TT-22,ATs+" --json
    \f
    Each street is solved as a spot whose bet sizes include those of the hand, and whose ranges follow from the streets before.
    Starting ranges are typical for the positions. "Best" is the solution's most frequent action, "mixed" one that it sometimes
    takes or that loses nothing. All others, and any that loses more than 3% of the pot, are mistakes.
    """
    with Live(progress) as live:
        live.say("reading the hands")
        from treeplex.errors import JobInterrupt
        from treeplex.holdem.cli.shared.requests import usable
        from treeplex.holdem.solve.budget import Budget
        from treeplex.holdem.study.review.bulk import BUDGET, review_many
        from treeplex.holdem.study.review.leaks import column
        from treeplex.holdem.study.review.review import SHARE, ReviewSettings, review, review_json

        many = reviews_many(source, number, out, bulk_options=bool(by or csv or phh))
        columns = tuple(part.strip() for part in by.split(",")) if by else None
        for name in columns or ():  # a mistake here is found before the hands are solved
            column(name)
        for file_name in filter(None, (csv, phh)):
            usable(file_name)
        settings = ReviewSettings(
            ranges=(oop, ip),
            first=None if street is None else street.lower(),
            bets=bets,
            raises=raises,
            share=SHARE if target is None else target / PERCENT,
            budget=(BUDGET if many else None) if budget is None else Budget.read(budget, "--budget"),
            folder=None if many else out,
        )

        def watch(name: str, state: "Progress", pot: float) -> None:
            live.say(f"{name}  {line_of(state)}")

        file: ReviewFile | None = None
        try:
            if many:
                file = review_many(
                    source, out, hero=hero, settings=settings, progress=lambda now: live.say(str(now)), say=live.say
                )
            else:
                hand_review = review(source, number=number or 1, hero=hero, settings=settings, progress=watch)
        except (JobInterrupt, KeyboardInterrupt):
            again = "the same command resumes" if out else "with --out, the same command resumes"
            fail(f"stopped; {again}", STOPPED)
    if file is not None:
        with file:
            write_exports(file, csv, phh)
            print_bulk(file, columns, as_json=as_json)
    elif as_json:
        print_json(review_json(hand_review))
    else:
        print_review(hand_review)


def reviews_many(source: Path, number: int | None, out: Path | None, *, bulk_options: bool) -> bool:
    """Whether to review many hands, rather than show hand ``number`` or a file's only one.

    Raises:
        SpecError: ``number`` conflicts with a folder or ``bulk_options``, or ``out`` is not a file for many hands.
    """
    from treeplex.errors import SpecError
    from treeplex.holdem.study.review.bulk import HANDS_SUFFIX

    if number is not None:
        if source.is_dir() or bulk_options:
            raise SpecError("--hand shows one hand of a file; leave it out with a folder, --by, --csv or --phh")
        return False
    in_file = out is not None and out.suffix == HANDS_SUFFIX
    many = source.is_dir() or bulk_options or in_file or hands_in(source) > 1
    if many and out is not None and not in_file:
        raise SpecError(f"--out is {out}; a review of many hands is saved in one file, such as --out review{HANDS_SUFFIX}")
    return many


def hands_in(file: Path) -> int:
    """The number of hands in a file."""
    from treeplex.holdem.study.report.hand_texts import split_hands
    from treeplex.holdem.study.review.bulk import text_of

    return len(split_hands(text_of(file)))


def write_exports(file: "ReviewFile", csv: Path | None, phh: Path | None) -> None:
    """Write the decisions and the hands to files."""
    from treeplex.base.storage.files import replacing, write_atomically
    from treeplex.holdem.study.review.leaks import csv_text, phh_export

    if csv is not None:
        write_atomically(csv, csv_text(file))
    if phh is not None:
        with replacing(phh) as opened:
            opened.writelines(part.encode() for part in phh_export(file))


def print_bulk(file: "ReviewFile", by: tuple[str, ...] | None, *, as_json: bool) -> None:
    """Print the leaks of many hands, the hands that lost most, and why hands were not reviewed."""
    from treeplex.holdem.study.review.leaks import VIEWS, counts, hands_of, leaks

    total, views = counts(file), [by] if by else [(name,) for name in VIEWS]
    tables = {",".join(view): leaks(file, view) for view in views}
    worst = hands_of(file, most=FEW)
    if as_json:
        found = {name: [vars(leak) for leak in rows] for name, rows in tables.items()}
        print_json({**total.to_json(), "leaks": found, "worst": worst})
        return
    for name, rows in tables.items():
        if rows:
            head = [name.replace(",", ", "), "decisions", "mistakes", "bb lost", "bb/100", "95% interval"]
            echo_table(head, [leak_row(leak) for leak in rows])
            typer.echo("")
    if any(row["lost_bb"] > 0 for row in worst):
        say("hands that lost most", bold=True)
        for row in worst:
            lost, place = amount(row["lost_bb"], False), f"{row['source']}, hand {row['number']}"
            say(f"  {lost} bb  {row['cards']} {row['position']:<3}  {row['title'][:60]}  ({place})")
        typer.echo("")
    for reason, count in total.skipped.items():
        typer.echo(f"{count:,} not reviewed: {reason}")
    if total.duplicates:
        typer.echo(f"{counted_as(total.duplicates, 'hand')} repeated; repeated hands count once")
    if total.unclear:
        left_out = counted_as(total.unclear, "decision")
        typer.echo(f"{left_out} left out: their solution's exploitability exceeds 3% of the pot; give a larger --budget")
    every = total.total
    said = f"{counted_as(total.found, 'hand')}: {total.reviewed:,} reviewed, {counted_as(total.decisions, 'decision')}"
    per = f"; {amount(every.per_100, False)} bb lost per 100 hands ({interval(every)})" if total.reviewed else ""
    say(said + per, bold=True)


def leak_row(leak: "Leak") -> list[str]:
    """A leak as a row of a table."""
    name = ", ".join(leak.group)
    lost = [amount(leak.lost_bb, False), amount(leak.per_100, False)]
    return [name, f"{leak.decisions:,}", f"{leak.mistakes:,}", *lost, interval(leak)]


def interval(leak: "Leak") -> str:
    """The interval of a leak as text, or why there is none."""
    if leak.low is None or leak.high is None:
        return "fewer than 30 hands"
    return f"{amount(leak.low, False)} to {amount(leak.high, False)}"


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
