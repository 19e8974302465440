"""Full hands of hold'em between a person at the terminal and agents."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import final

import numpy as np

from treeplex.errors import GameError, SpecError
from treeplex.holdem.cards.cards import card_to_string
from treeplex.holdem.cli.shared.kept import KeptHands
from treeplex.holdem.cli.shared.options import refuse_options
from treeplex.holdem.tables.solved_streets import check_streets, solved_decisions
from treeplex.holdem.tables.whole import WholeTable
from treeplex.holdem.whole.game import Holdem
from treeplex.run.cli.shared.console import print_next, say
from treeplex.run.cli.shared.live import Live
from treeplex.search.agents.agent import Agent
from treeplex.search.cli.play import Seat, asked, thinking, thought_text, until_left
from treeplex.search.evaluate.statistics import FEWEST_DEALS
from treeplex.search.tables.judging import RARE, DecisionReview
from treeplex.search.tables.results import Hand, results_of

WAYS = "type a number of the list, or raise to 7bb, bet 75%, half pot, all in; quit ends"
LIMIT_WAYS = "type a number of the list, or fold, check, call, bet, raise; quit ends"
JUDGES = {
    "solution": "by solving the streets, with the usual ranges of the positions",
    "agent": "against the solves of resolver",
    "estimate": "an estimate against this opponent, as if both check and call to the end",
    "chart": "by the preflop chart",
}
"""Readable description of each evaluator of decisions, by name."""
REGULAR = "rules(style=regular)"
"""The default opponent where no stronger agent plays."""
HUNDRED = 100
FULL_DECK = 52


def play_hands(table: WholeTable, opponent: str, wanted: Seat) -> None:
    """Play hand after hand until the person quits.

    Args:
        table: the game and the opponent.
        opponent: one line that describes the opponent.
        wanted: the person's seat and options.

    Raises:
        SpecError: no such seat, or a game whose hands cannot be saved or whose streets cannot be solved.
        FileError: a file that cannot be written.
    """
    seat = None if wanted.seat is None else seat_of(table, wanted.seat)
    if wanted.more["review"] is not None:
        check_streets(table.rules, wanted.more["review"])
    saved_hands = KeptHands(wanted.more["log"], wanted.more["saved_hands"], table.rules, f"{about(table)}; against {opponent}")
    hands = PlayedHands(table, saved_hands, wanted, seat)
    say(f"{about(table)}; against {opponent}")
    say("bets and raises are a player's total on the street, in big blinds (bb)")
    say(f"{LIMIT_WAYS if table.rules.betting.limits else WAYS}\n")
    until_left(hands.play, wanted.games, hands.end)


def play_whole(rules: Holdem, wanted: Seat) -> None:
    """Play full hands of a game, with the options in :class:`Seat` and those for hold'em."""
    refuse_options(wanted.more, ("boards", "drill", "line", "only"), "spots")
    with Live(None) as live:
        live.say(f"setting up {rules.spec}")
        whom, opponent = usual_opponent(rules, wanted) if wanted.against is None else (wanted.against, None)
        opponent = opponent or wanted.opponent(rules, whom)
        name = name_of(whom)
        table = WholeTable(opponent, name, np.random.default_rng(wanted.seed), game=rules)
    said = getattr(opponent, "about", "")
    about = said if said.startswith(name) else f"{whom}: {said}" if said else whom
    play_hands(table, about + (" (--against names another)" if wanted.against is None else ""), wanted)


def usual_opponent(rules: Holdem, wanted: Seat) -> tuple[str, Agent]:
    """The default opponent: heads-up ``resolver`` or a shipped ReBeL network, otherwise rules."""
    for whom in ("resolver", "rebel", REGULAR)[2 * (rules.num_players > 2) :]:
        with suppress(SpecError, GameError):
            return whom, wanted.opponent(rules, whom)
    raise GameError(f"{rules.spec} has no default opponent; name one with --against")


def name_of(text: str) -> str:
    """The display name of an opponent, such as ``rebel`` or ``maniac``, or the name of its folder or class."""
    if Path(text).exists():
        return Path(text).resolve().stem
    name, _, inner = text.partition("(")
    style = re.search(r"style=(\w+)", inner)
    return style[1] if style else name.rpartition(":")[2].strip()


def seat_of(table: WholeTable, name: str) -> int:
    """The player in a named position.

    Raises:
        SpecError: there is no such position.
    """
    seats = table.seats()
    if name.lower() not in seats:
        known = "button or bb" if table.players == 2 else ", ".join(seats)
        raise SpecError(f"--seat is {name!r}; write {known}")
    return seats[name.lower()]


def about(table: WholeTable) -> str:
    """The game described in one line: ``hold'em, no limit, blinds 0.5 and 1 bb, stacks 50 bb``."""
    rules = table.rules
    betting = rules.betting
    kind = "limit" if betting.limits else "no limit"
    blinds = " and ".join(map(table.big_blinds, betting.blinds))
    stacks = sorted({*betting.stacks})
    deep = table.amount(stacks[0]) if len(stacks) == 1 else f"{table.big_blinds(stacks[0])} to {table.amount(stacks[-1])}"
    words = [f"hold'em, {kind}", f"blinds {blinds} bb", f"stacks {deep}"]
    if any(rules.antes):
        words.append(f"antes {table.amount(sum(rules.antes))} in all")
    if betting.limits:
        sizes = dict.fromkeys(map(table.big_blinds, betting.limits))
        words.append(f"bets {' and '.join(sizes)} bb")
    if len(rules.format.deck) != FULL_DECK:
        words.append(f"{len(rules.format.deck)} cards")
    return ", ".join(words)


@final
class PlayedHands:
    """A session at a table; see :func:`play_hands`.

    Attributes:
        done: the finished hands.
    """

    def __init__(self, table: WholeTable, saved_hands: KeptHands, wanted: Seat, seat: int | None) -> None:
        self.table, self.kept, self.own = table, saved_hands, seat
        self.reveal, self.review = wanted.more["reveal"], wanted.more["review"]
        self.done: list[Hand] = []
        self._story: list[str] = []
        self._shown = 0
        self._under_way = False

    def play(self, number: int) -> None:
        """Play the hand with this number; the first is 0."""
        table = self.table
        seat = self.own if self.own is not None else (table.rules.betting.dealer - number) % table.players
        self._story, self._shown, self._under_way = [], 0, True
        with thinking():
            table.begin(seat)
        self._tell(f"hand {number + 1}: you are {table.position(seat)}", bold=True)
        self._note(f"  you hold {table.view(seat)}")
        while (actor := table.actor) is not None:
            self._streets()
            options = table.options()
            if actor == seat:
                say(f"  your cards   {table.view(seat)}")
                say(f"  {table.picture()}")
                action, thought = asked(table, table.menu()), None
                options = table.options()
            else:
                with thinking():
                    action = table.reply()
                thought = table.thought()
            self._tell(f"  {self._name(actor)}   {options[action]}", "" if thought is None else f"   ({thought_text(thought)})")
            with thinking():
                table.play(action)
        self._streets()
        self._finish(number + 1, seat)

    def _streets(self) -> None:
        """Print the board cards dealt since the last call."""
        board, sizes = self.table.board, self.table.rules.format.board_sizes
        for size in sizes:
            if self._shown < size <= len(board):
                cards = " ".join(map(card_to_string, board[:size]))
                self._tell(f"{self.table.street_of(size)}   {cards}", bold=True)
                self._shown = size

    def _finish(self, number: int, seat: int) -> None:
        """Print the result of a hand, and save the hand."""
        table = self.table
        folded = table.betting.folded
        if table.showdown:
            self._tell("showdown", bold=True)
        for player, cards in enumerate(table.shown()):
            if table.showdown and not folded[player]:
                self._tell(f"  {self._name(player)}   {cards}")
            elif self.reveal and player != seat:
                self._tell(f"  {table.seat(player)} had   {cards}")
            else:
                self._note(f"  {table.seat(player)} had   {cards}")
        self._tell(f"  {table.outcome(seat)}")
        for made in table.decided:
            if made.verdict == "mistake":
                self._tell(f"  {mistake(table, made)}")
        hand = Hand(number, 0, seat, decided=table.decided, payoff=table.returns()[seat])
        self.done.append(hand)
        self._under_way = False
        self.kept.add(table, seat, self._story)
        luckless = table.luckless()
        hand.luckless = None if luckless is None else luckless[seat]
        if self.review is not None:
            hand.decided = self._reviewed(seat, self.review)
        say(f"  {self._so_far()}\n")

    def _reviewed(self, seat: int, street: str) -> list[DecisionReview]:
        """Review the person's decisions: solve the hand from a street on and print the verdicts; earlier reviews stay
        unchanged.
        """
        with Live(None) as live:
            decisions = solved_decisions(self.table, seat, street, lambda name: live.say(f"solving the {name}"))
        for made in decisions:
            word = {"mistake": mistake(self.table, made), "best": f"{chosen(made)} is best"}
            say(f"  according to the solution, {word.get(made.verdict, f'{chosen(made)} is as good as any')}")
        solved = {made.where for made in decisions}
        return [made for made in self.table.decided if made.where not in solved] + decisions

    def end(self) -> None:
        """Print the result of all hands."""
        if self._under_way:
            say("the unfinished hand does not count")
        if not self.done:
            say("no hand was finished; thank you for playing")
            return
        for line in summary(self.table, self.done):
            say(line)
        self.kept.tell()
        say("thank you for playing")
        if (review := self.kept.review()) is not None:
            print_next([(review, "solve the streets of that hand, and judge your decisions")])

    def _name(self, player: int) -> str:
        """A player's display name, padded to the longest name."""
        names = [self.table.seat(seat) for seat in range(self.table.players)]
        return f"{self.table.seat(player):<{max(map(len, names))}}"

    def _so_far(self) -> str:
        won = sum(hand.payoff or 0.0 for hand in self.done)
        return f"{self.table.signed(won)} after {len(self.done)} hand{'s' if len(self.done) != 1 else ''}"

    def _tell(self, line: str, more: str = "", *, bold: bool = False) -> None:
        """Print a line of the hand."""
        self._note(line)
        say(line + more, bold=bold)

    def _note(self, line: str) -> None:
        """Add a line to the hand's log."""
        self._story.append(line)


def chosen(made: DecisionReview) -> str:
    """A decision as text: street and action."""
    return f"{made.where}: {made.options[made.chosen]}"


def mistake(table: WholeTable, made: DecisionReview) -> str:
    """A mistake as text: what it loses, or how often the chart plays it, and a better action."""
    if made.by == "chart":
        most = made.options[made.policy.index(max(made.policy))]
        return f"{chosen(made)} is played {made.policy[made.chosen]:.0%} of the time by the chart; most often: {most}"
    best = max((value, name) for value, name in zip(made.values, made.options, strict=True) if value == value)[1]
    about = "" if made.by == "solution" else "about "
    return f"{chosen(made)} loses {about}{table.amount(made.lost)}; better: {best}"


def summary(table: WholeTable, hands: Sequence[Hand]) -> list[str]:
    """The summary of a session: winnings, bb/100, AIVAT winnings, and EV lost by decisions."""
    results = results_of(hands, table.rules.betting.big_blind)
    lines = [f"{len(hands):,} hand{'s' if len(hands) != 1 else ''}: {per_hundred(table, results['raw'])}"]
    if results["luckless"] is not None:
        lines.append(f"winnings adjusted for luck (AIVAT): {per_hundred(table, results['luckless'])}")
    for by, words in JUDGES.items():
        made = [decision for hand in hands for decision in hand.decided if decision.by == by and decision.verdict != "unknown"]
        if made and by == "chart":
            rare = sum(decision.verdict == "mistake" for decision in made)
            lines.append(f"{rare} of {len(made)} preflop decisions are rare (below {RARE:.0%}); {words}")
        elif made:
            lines.append(f"{lost_in(table, made)}; {words}")
    unknown = sum(decision.verdict == "unknown" for hand in hands for decision in hand.decided)
    if unknown:
        lines.append(f"{unknown} decision{'s' if unknown != 1 else ''} not judged: their values are unknown")
    return lines


def lost_in(table: WholeTable, decided: Sequence[DecisionReview]) -> str:
    """EV lost on each street, as text."""
    mistakes = [decision for decision in decided if decision.verdict == "mistake"]
    judged = f"{len(decided)} decision{'s' if len(decided) != 1 else ''} judged"
    if not mistakes:
        return f"EV lost: nothing in {judged}"
    streets = {
        where: sum(decision.lost for decision in mistakes if decision.where == where)
        for where in (decision.where for decision in mistakes)
    }
    where = ", ".join(f"{name} {table.big_blinds(lost)}" for name, lost in streets.items())
    about = "" if mistakes[0].by == "solution" else "about "
    return f"EV lost: {about}{table.amount(sum(streets.values()))} in {len(mistakes)} of {judged} ({where})"


def per_hundred(table: WholeTable, result: dict[str, float | None]) -> str:
    """A total and its mean per 100 hands, with the 95% interval if there are enough hands."""
    total, mean, half = result["total"], result["mean"], result["half"]
    assert total is not None
    assert mean is not None
    scale = HUNDRED / table.rules.betting.big_blind
    spread, few = (
        ("", f" (no 95% interval for fewer than {FEWEST_DEALS} hands)") if half is None else (f" ± {scale * half:,.1f}", "")
    )
    return f"{table.signed(total)}, {scale * mean:+,.1f}{spread} bb/100{few}"
