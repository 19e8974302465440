"""Reviews a hand: solves the spot of each street with the ranges that reach it, and values the player's decisions.

Each street is a spot with the hand's bet sizes. Its ranges are those left by the previous street's solution along the hand's
line; the first ranges are given or follow from the positions. The hero's hand always stays in the range, with a small weight
if necessary, so that its EVs can be computed.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.notices import reporting, tell
from treeplex.errors import SpecError, TreeplexError
from treeplex.holdem.betting.bet_plan import HOLDEM_STREETS, BetPlan
from treeplex.holdem.cards.cards import parse_cards
from treeplex.holdem.cards.ranges import parse_range
from treeplex.holdem.policies.line import read_steps
from treeplex.holdem.solve.budget import Budget, machine_pace
from treeplex.holdem.solve.estimate import START_SECONDS, estimate_spot, solving_seconds
from treeplex.holdem.solve.solution import HoldemSolution, load_solution, reread
from treeplex.holdem.solve.solve_spot import solve_spot
from treeplex.holdem.spots.fields import Target
from treeplex.holdem.spots.spot import Spot
from treeplex.holdem.spots.spot_table import SOLVED_FILE
from treeplex.holdem.study.report.export import node_report
from treeplex.holdem.study.report.hand_history import HandSpot, with_bets_of
from treeplex.holdem.study.report.page_data import NodeReport
from treeplex.holdem.study.report.room_text import UnsuitableHandError
from treeplex.holdem.study.review.played_hand import STRADDLED, RecordedHand, played_hand
from treeplex.holdem.study.review.position_ranges import position_range
from treeplex.run.job.progress_line import line_of
from treeplex.run.job.record import Progress

Watch = Callable[[str, Progress, float], None]
"""Progress callback: the street, its solving progress, and its pot."""

PLANS = (("33%,75%", "3x"), ("60%", "3x"), ("60%", "none"))
"""Bets and raises on every street in addition to the hand's, richest first: the first plan that is small enough is used, else
the last; then the last plan's sizes are left out where the hand has its own."""
MOST_MEMORY, MOST_SECONDS = 1_500_000_000, 0.5
"""Limits of a small enough plan without a budget: bytes, and estimated seconds per iteration."""
RUNOUTS = ((24, 12), (12, 8), (8, 5), (5, 3))
"""Numbers of turns, and of rivers after each, with the last plan, if a budget is too small for all cards."""
SHARE = 0.005
"""Default target: exploitability as a share of the pot at the start of a street."""
LEAST = 1e-3
"""Minimum weight of the hero's hand, relative to the largest weight in the range."""
SAMPLED = 0.05
"""Error of losses from a sample of later cards, as a share of the pot at the start of the street; about 95% are smaller, see
``docs/log.md``."""
RARE = 0.005
"""Minimum share of a range that must take the line; below it, the range is not narrowed."""
MIXED, MAIN = 0.05, 0.5
"""Minimum frequencies at which an action counts as mixed, and as best."""
FORGIVEN = 0.03
"""EV loss, as a share of the pot, above which any action is a mistake, as in lines that the solution rarely reaches."""
VERDICTS = ("best", "mixed", "mistake")


@dataclass(frozen=True)
class Choice:
    """One decision of the hero.

    Attributes:
        line: canonical line to the decision on the street.
        pot: chips in the pot.
        actions: names of all actions.
        frequency: the solution's frequency of each action with this hand.
        ev: chips from the pot after each action.
        played: index of the action played.
        lost: EV loss against the best action, in chips.
        verdict: ``best`` for the solution's main action, ``mixed`` for one that it sometimes takes or that loses nothing,
            ``mistake`` for all others and any that loses more than 3% of the pot.
    """

    line: str
    pot: float
    actions: tuple[str, ...]
    frequency: tuple[float, ...]
    ev: tuple[float, ...]
    played: int
    lost: float
    verdict: str


@dataclass(frozen=True, eq=False)
class StreetReview:
    """Review of one street.

    Attributes:
        street: ``flop``, ``turn`` or ``river``.
        hand: the spot, with the line played after it.
        line: canonical line played on this street.
        solution: the solved spot.
        equity: the hero's equity at the start of the street, in [0, 1].
        choices: the hero's decisions.
        notes: remarks for the reader, such as a hand that was not in the range.
    """

    street: str
    hand: HandSpot
    line: str
    solution: HoldemSolution
    equity: float
    choices: tuple[Choice, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Review:
    """Review of a hand.

    Attributes:
        hand: the hand.
        streets: reviews of its streets.
    """

    hand: RecordedHand
    streets: tuple[StreetReview, ...]

    @property
    def lost(self) -> float:
        """Chips lost by all decisions."""
        return sum(choice.lost for street in self.streets for choice in street.choices)

    def __repr__(self) -> str:
        said = [choice.verdict for street in self.streets for choice in street.choices]
        counts = ", ".join(f"{said.count(verdict)} {verdict}" for verdict in VERDICTS if verdict in said)
        return f"<review of {self.hand.cards[self.hand.hero]}: {counts or 'no decision'}; {self.lost:.3g} chips lost>"


@dataclass(frozen=True)
class ReviewSettings:
    """Settings of a review.

    Attributes:
        ranges: starting ranges out of position and in position; None for the usual ranges of the positions.
        first: the first street, ``flop``, ``turn`` or ``river``; None for the first heads-up street.
        bets, raises: sizes on every street, as in spot files, in addition to the hand's. None for both: as many as can be
            solved in about a minute, see :data:`PLANS`.
        share: target exploitability as a share of the pot.
        threads: None for one per core.
        folder: folder of the solved streets, ``flop.spot`` and so on; finished solves are reused and unfinished ones resumed.
        budget: memory and time for each street. It chooses among :data:`PLANS`, then :data:`RUNOUTS`, and ends the solve.
            None for the limits of the plans, and no limit on time.
    """

    ranges: tuple[str | None, str | None] = (None, None)
    first: str | None = None
    bets: str | None = None
    raises: str | None = None
    share: float = SHARE
    threads: int | None = None
    folder: Path | None = None
    budget: Budget | None = None


def review(
    source: str | os.PathLike[str],
    *,
    number: int = 1,
    hero: str | None = None,
    settings: ReviewSettings | None = None,
    progress: Watch | bool | None = None,
) -> Review:
    """Review one player's actions in a hand, street by street.

    Args:
        source: a file of hands (PHH, PokerStars or GGPoker), or its text.
        number: number of the hand, from 1.
        hero: the player to review: a name, ``oop`` or ``ip``; default: the player whose cards the history shows, else one with
            known cards.
        settings: ranges, sizes, accuracy, and the folder of solutions.
        progress: False shows none; None shows it on a terminal, see :func:`treeplex.solve`. A function is called with the
            street, its solving progress, and its pot.

    Returns:
        For each street, its solution and the player's decisions, with EVs in chips from the pot and the loss of each action.

    Raises:
        FileError: not a hand history.
        SpecError: a hand without a heads-up street, unknown cards, or a street that does not fit into memory.
        JobInterrupt: Ctrl-C; with a folder, the next review resumes the street.
    """
    how = settings or ReviewSettings()
    with reporting(progress, "reading the hand"):
        hand = played_hand(os.fspath(source), number=number, hero=hero)
        return judged(hand, how, progress if callable(progress) else lambda name, now, pot: tell(f"{name}  {line_of(now)}"))


def judged(hand: RecordedHand, how: ReviewSettings, progress: Watch | None) -> Review:
    """Review a recorded hand."""
    names = [HOLDEM_STREETS[played_street.street] for played_street in hand.streets]
    if how.first is not None and how.first not in names:
        raise SpecError(f"the hand has no heads-up {how.first} with chips behind; it has {', '.join(names)}")
    streets = hand.streets[0 if how.first is None else names.index(how.first) :]
    ranges, notes = first_ranges(hand, how)
    reviews: list[StreetReview] = []
    for played_street in streets:
        spot, said = street_spot(hand, played_street, ranges, how)
        solution = solved_street(spot, played_street, how, progress)
        reviews.append(judged_street(hand, played_street, solution, (*notes, *said)))
        ranges, notes = ranges_left(reviews[-1], ranges)
    return Review(hand, tuple(reviews))


def first_ranges(hand: RecordedHand, how: ReviewSettings) -> tuple[tuple[Floats, Floats], tuple[str, ...]]:
    """The ranges at the first street, and notes about them."""
    ranges, notes = [], []
    if hand.straddled and None in how.ranges:
        line = "a straddle was posted, for which there are no built-in ranges; give the ranges of both players"
        raise UnsuitableHandError(line, STRADDLED)
    for player, name in enumerate(("OOP", "IP")):
        text, part = how.ranges[player], hand.parts[player]
        ranges.append(position_range(part) if text is None else parse_range(text))
        if text is None:
            did = "raised last" if part.raised else "called" if part.raises else "saw the flop for the big blind"
            notes.append(f"{name}: the usual range of {part.position}, who {did}")
    return (ranges[0], ranges[1]), tuple(notes)


def street_spot(
    hand: RecordedHand, street: HandSpot, ranges: tuple[Floats, Floats], how: ReviewSettings
) -> tuple[Spot, tuple[str, ...]]:
    """The spot of a street, and notes about it."""
    weights, notes = [weight.copy() for weight in ranges], []
    hero_range = weights[hand.hero]
    largest = float(hero_range.max(initial=0.0)) or 1.0
    if hero_range[hand.hero_hand] < LEAST * largest:
        hero_range[hand.hero_hand] = LEAST * largest
        notes.append(f"{hand.cards[hand.hero]} was not in the range at this node and was added with a weight of {LEAST:g}")
    chip = min(street.chip, 10.0 ** np.floor(np.log10(street.pot / 100)))
    plain = Spot(
        parse_cards(street.board), street.pot, street.stack, (weights[0], weights[1]), BetPlan.same("none", "none"), chip=chip
    )
    spot, sizes = sized_spot(plain, street, how)
    notes.append(f"extra sizes: bets {sizes[0]}, raises {sizes[1]}")
    if spot.runouts:
        some = [f"{count} {name}s" for count, name in zip(spot.runouts[2:], HOLDEM_STREETS[2:], strict=True) if count]
        notes.append(f"the budget allows only a sample of later cards: {' with '.join(some)}{' each' if len(some) > 1 else ''}")
    return spot, tuple(notes)


def sized_spot(plain: Spot, street: HandSpot, how: ReviewSettings) -> tuple[Spot, tuple[str, str]]:
    """A spot with the requested sizes or, if it is too large, the richest that fit; and these sizes."""
    requested = (how.bets or "none", how.raises or "none") if how.bets is not None or how.raises is not None else None
    if requested and how.budget is None:
        return with_bets_of(replace(plain, bets=BetPlan.same(*requested)), street), requested
    plans = PLANS if requested is None else (requested,)
    for sizes in plans:
        spot = with_bets_of(replace(plain, bets=BetPlan.same(*sizes)), street)
        if is_small(spot, how):
            return spot, sizes
    if how.budget is not None:
        for count in RUNOUTS:
            spot = replace(spot, runouts=(0, 0, *count))
            if not spot.runouts or is_small(spot, how):
                break
        return spot, plans[-1]
    plan = BetPlan.same(*PLANS[-1])
    for where, player, _ in street.bets:
        plan = plan.override(where, player, bets="none")
    return with_bets_of(replace(plain, bets=plan), street), PLANS[-1]


def is_small(spot: Spot, how: ReviewSettings) -> bool:
    """Whether a spot can be solved within the budget or, without one, the limits of the plans."""
    estimate = estimate_spot(spot, threads=how.threads)
    memory, seconds = (None, None) if how.budget is None else (how.budget.memory, how.budget.seconds)
    if estimate.memory["float32"] > (memory or MOST_MEMORY):
        return False
    if seconds is None:
        return estimate.seconds <= MOST_SECONDS
    aimed = replace(spot, settings=replace(spot.settings, target=Target(how.share, True)))
    pace = machine_pace(estimate.threads)
    return solving_seconds(replace(estimate, spot=aimed, seconds=pace * estimate.seconds)) <= max(seconds, START_SECONDS + 1)


def solved_street(spot: Spot, street: HandSpot, how: ReviewSettings, progress: Watch | None) -> HoldemSolution:
    """The solution of a street: read from the folder if finished, else solved or resumed."""
    name = HOLDEM_STREETS[street.street]
    file = None if how.folder is None else how.folder / f"{name}{SOLVED_FILE}"
    begun = None
    if file is not None and file.exists():
        try:
            begun = load_solution(file)
            begun = begun if begun.spot.identity == reread(spot).identity else None
        except TreeplexError:  # damaged, or of another version: solve it again
            begun = None
    target = how.share * spot.opening_pot
    if begun is not None and (begun.exploitability <= target or begun.state is None):
        return begun
    watch = None if progress is None else lambda state: progress(name, state, spot.opening_pot)
    seconds = None if how.budget is None else how.budget.solver_seconds
    solved = solve_spot(
        None if begun else spot, target=target, seconds=seconds, threads=how.threads, progress=watch, resume=begun, out=file
    )
    if file is None:
        return solved
    return load_solution(solved.save(file, resumable=False))  # an eighth of the size


def judged_street(hand: RecordedHand, street: HandSpot, solution: HoldemSolution, notes: tuple[str, ...]) -> StreetReview:
    """Review the hand on one solved street."""
    words, line, choices = words_of_street(street.line), "", []
    root = node_report(solution, "").sides[hand.hero]
    name = hand.cards[hand.hero]
    for word in words:
        node = node_report(solution, line).from_the_pot()
        after = solution.at(f"{line},{word}" if line else word).line
        if node.player == hand.hero:
            choices.append(judged_choice(node, node.children.index(after), name, noise_of(solution)))
        line = after
    return StreetReview(
        street=HOLDEM_STREETS[street.street],
        hand=street,
        line=line,
        solution=solution,
        equity=float(root.equity[root.names.index(name)]),
        choices=tuple(choices),
        notes=notes,
    )


def noise_of(solution: HoldemSolution) -> float:
    """The difference up to which a solution's EVs count as equal: its exploitability, or the error of sampled later cards."""
    sampled = SAMPLED * solution.spot.opening_pot if solution.spot.runouts else 0.0
    return max(solution.exploitability, sampled)


def words_of_street(line: str) -> list[str]:
    """The actions of a line up to the first card."""
    words: list[str] = []
    for word in line.split(",") if line else []:
        if read_steps(word)[0].cards:
            break
        words.append(word)
    return words


def judged_choice(node: NodeReport, played: int, hand: str, noise: float) -> Choice:
    """The review of one decision; EVs within ``noise``, see :func:`noise_of`, are treated as equal."""
    assert node.player is not None
    side = node.sides[node.player]
    row = side.names.index(hand)
    evs, often = side.action_ev[:, row], side.frequency[:, row]
    lost = max(0.0, float(np.nanmax(evs) - evs[played])) if np.isfinite(evs).any() else 0.0
    main = often[played] >= MAIN or played == int(np.argmax(often))
    if lost > max(noise, FORGIVEN * node.pot) or not (main or often[played] >= MIXED or lost <= noise):
        verdict = "mistake"
    else:
        verdict = "best" if main else "mixed"
    return Choice(
        line=node.line,
        pot=node.pot,
        actions=node.actions,
        frequency=tuple(map(float, often)),
        ev=tuple(map(float, evs)),
        played=played,
        lost=lost,
        verdict=verdict,
    )


def ranges_left(street: StreetReview, before: tuple[Floats, Floats]) -> tuple[tuple[Floats, Floats], tuple[str, ...]]:
    """The ranges at the end of a street, and notes about them."""
    view, ranges, notes = street.solution.at(street.line), [], []
    for player, name in enumerate(("OOP", "IP")):
        weights = np.zeros(len(before[player]))
        weights[view.hands_of(player)] = view.weight_of(player)
        if weights.sum() < RARE * street.solution.spot.ranges[player].sum():
            ranges.append(before[player])
            notes.append(f"{name} almost never takes this line; the range at the start of the {street.street} is kept")
        else:
            ranges.append(weights / weights.max())
    return (ranges[0], ranges[1]), tuple(notes)


def review_json(hand_review: Review) -> dict[str, Any]:
    """A review as JSON data; amounts in chips."""
    hand = hand_review.hand
    return {
        "hand": hand.title,
        "big_blind": hand.big_blind,
        "players": list(hand.names),
        "positions": [part.position for part in hand.parts],
        "cards": list(hand.cards),
        "hero": ("oop", "ip")[hand.hero],
        "lost": hand_review.lost,
        "lost_bb": hand_review.lost / hand.big_blind,
        "streets": [street_json(street, hand.big_blind) for street in hand_review.streets],
    }


def street_json(street: StreetReview, big_blind: float) -> dict[str, Any]:
    """One street of a review as JSON data."""
    solution = street.solution
    return {
        "street": street.street,
        "board": street.hand.board,
        "pot": street.hand.pot,
        "stack": street.hand.stack,
        "line": street.line,
        "equity": street.equity,
        "exploitability": solution.exploitability,
        "file": None if solution.folder is None else str(solution.folder),
        "notes": list(street.notes),
        "choices": [{**vars(choice), "lost_bb": choice.lost / big_blind} for choice in street.choices],
    }
