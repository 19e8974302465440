"""Preflop charts of solved spots, including those that ship with the library.

A shipped chart is a solution reduced to its first street: its spot contains the boards and bet sizes, and its records contain
the iterations and exploitability.
"""

import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.spec import shown
from treeplex.errors import SpecError
from treeplex.games.betting.size_grammar import Size
from treeplex.holdem.betting.bet_plan import BetPlan
from treeplex.holdem.betting.tree import Decision
from treeplex.holdem.blueprint.preflop import ChartBook, ChartDecision, PreflopChart
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES, cards_to_string
from treeplex.holdem.cards.class_equities import class_equities
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.policies.line import action_text, find_place, joined, read_steps
from treeplex.holdem.solve.solution import HoldemSolution, load_solution
from treeplex.holdem.spots.spot import Spot
from treeplex.search.translation.mapping import pseudo_harmonic

SHIPPED = Path(__file__).with_name("charts")
BY_NETWORK = SHIPPED / "by_network.json"
"""Distances between network charts and shipped charts; written by ``bench/preflop_charts.py``."""
WHERE = {"first": "at the first decision"}
"""Readable descriptions of decisions whose names in the results are unclear."""
PLAYERS = ("big blind", "small blind")
FAR = 2.0
"""Factor by which a raise, in pots, may exceed or fall below all sizes of a chart and still be read as the nearest one."""
TAKEN = 0.001
"""Frequency below which an action's EV is not shown if the player acts again: the strategy after it is not converged."""
CHIP = 1e-6
"""Difference below which two raises are the same."""
STREETS = ("flops", "turns", "rivers")


def shipped_charts() -> tuple[str, ...]:
    """Names of the shipped charts by stack, such as ``20bb``."""
    return tuple(sorted((path.stem for path in SHIPPED.glob("*.spot")), key=lambda name: (len(name), name)))


def is_shipped(file: str) -> bool:
    """Whether a name refers to a shipped chart; a file or folder of that name takes precedence."""
    return file in shipped_charts() and not Path(file).exists()


def read_solved(file: str) -> HoldemSolution | None:
    """Load a shipped chart by name, or a ``.spot`` file; None for anything else.

    Raises:
        FileError: the file cannot be read.
    """
    if is_shipped(file):
        return load_solution(SHIPPED / f"{file}.spot", resumable=False)
    return load_solution(file, resumable=False) if Path(file).suffix == ".spot" else None


def check_source(file: str) -> None:
    """Reject a name that is neither a shipped chart nor a file or folder.

    Raises:
        SpecError: there is no such chart or file; the message lists the shipped charts.
    """
    if not Path(file).exists():
        raise SpecError(
            f"unknown preflop chart, file or folder {shown(file)}; use {', '.join(shipped_charts())}, "
            "a solved spot (.spot) or a blueprint's folder"
        )


def solution_chart(solution: HoldemSolution, line: str = "") -> PreflopChart:
    """The preflop chart of a solved spot after a line such as ``r2,c``.

    Raises:
        SpecError: the spot does not begin preflop with the whole deck, or the line ends at no decision.
    """
    spot = solution.spot
    if spot.board or spot.format != HOLDEM or spot.blinds is None:
        at = cards_to_string(spot.board) or spot.format.name
        raise SpecError(f"this solution begins at {at}; charts need a spot with blinds, the whole deck and no board")
    view = solution.at(line)
    if view.player is None or view.street > 0:
        raise SpecError(f"line {line!r}: no player acts preflop there; leave its last action out")
    hands, weight = HAND_CLASSES[view.hands_of(view.player)], np.asarray(view.weight_of(view.player), np.float64)
    size = len(CLASSES)
    reach = np.bincount(hands, weight, size)
    taken = np.stack([np.bincount(hands, weight * row, size) for row in np.asarray(view.strategy, np.float64)])
    shares: Floats = np.divide(taken, reach, out=np.zeros_like(taken), where=reach > 0)
    title = f"{PLAYERS[view.player]}, {spot.stack / spot.blinds[1]:g} bb" + (f", after {line}" if line else "")
    kinds = tuple(action.kind for action in view.actions)
    members = np.bincount(HAND_CLASSES, minlength=size)
    paid, held = spot.pot / 2 + spot.stack - view.stacks[view.player], np.bincount(hands, minlength=size)
    ev = np.stack([np.bincount(hands, row + paid, size) for row in view.action_ev]) / spot.blinds[1]
    ev = np.divide(ev, held, out=np.full_like(ev, np.nan), where=held > 0)
    later = np.array([kind not in ("fold", "allin") for kind in kinds])  # own strategy after an action never taken is arbitrary
    ev[later[:, None] & (shares < TAKEN)] = np.nan
    return PreflopChart(view.player, title, tuple(map(str, view.actions)), kinds, tuple(CLASSES), shares, reach / members, ev)


def translated_line(solution: HoldemSolution, text: str) -> tuple[str, tuple[str, ...]]:
    """Translate a line with raises of any size to a solution's sizes, with a note on every translated raise.

    A raise between two sizes becomes the likelier one by the pseudo-harmonic mapping
    (:func:`treeplex.search.translation.mapping.pseudo_harmonic`), never a call.

    Raises:
        SpecError: a step that is no raise is not possible, a raise does not exceed the bet it faces, or it is too far from all
            sizes of the chart.
    """
    line, notes = "", list[str]()
    for step in read_steps(text):
        node = solution.game.betting.nodes[find_place(solution.spot, solution.game.betting, line).node]
        if not (isinstance(node, Decision) and step.letter in ("r", "b") and step.amount is not None and not step.unit):
            line = joined(line, step.text)
            continue
        bets, faced = node.bets(), max(node.street_bets)
        raises = [number for number, kind in enumerate(bets.kinds) if kind == "bet"]
        if step.amount <= faced:
            raise SpecError(f"line {shown(text)}: a raise to {step.amount:g} must exceed the bet of {faced:g}; raise to more")
        if not raises:
            raise SpecError(f"line {shown(text)}: no raise is possible after {line!r}; write c or f")
        shares = pseudo_harmonic((step.amount - faced) / bets.pot, bets.sizes[raises])
        action, real = raises[int(shares.argmax())], f"{step.amount:.12g}"
        if abs(bets.chips[action] - step.amount) > CHIP:
            sizes = [f"{bets.chips[number]:.12g}" for number, share in zip(raises, shares, strict=True) if share > 0]
            read_as, size = f"the nearest size, {sizes[0]}", (step.amount - faced) / bets.pot
            if len(sizes) == 1 and not 1 / FAR < size / bets.sizes[action] < FAR:
                known = ", ".join(f"{chips:.12g}" for chips in bets.chips[raises])
                raise SpecError(
                    f"line {shown(text)}: a raise to {real} is too far from this chart's sizes ({known}); raise to another "
                    "size, or solve a chart that has it"
                )
            if len(sizes) > 1:
                read_as = f"{bets.chips[action]:.12g} with weight {100 * shares.max():.0f}%, between {' and '.join(sizes)}"
            notes.append(f"a raise to {real} is read as {read_as} (pseudo-harmonic mapping)")
        line = joined(line, action_text(node.actions[action]))
    return find_place(solution.spot, solution.game.betting, line).line, tuple(notes)


def chart_book(file: str) -> ChartBook:
    """All charts of a solution, for agents; shipped ones are read once per process.

    Raises:
        FileError: the file cannot be read.
        SpecError: the source is neither a shipped chart nor a ``.spot`` file, or a spot that does not begin preflop with the
            whole deck.
    """
    return shipped_book(file) if is_shipped(file) else read_book(file)


@cache
def shipped_book(name: str) -> ChartBook:
    """A shipped chart."""
    return read_book(name)


def read_book(file: str) -> ChartBook:
    """Read all charts of a solution; see :func:`chart_book`."""
    solution = read_solved(file)
    if solution is None:
        raise SpecError(f"{shown(file)} is not a preflop chart; give {', '.join(shipped_charts())}, or a solved spot (.spot)")
    solution_chart(solution)
    betting, blinds, decisions, lines = solution.game.betting, solution.spot.blinds, list[ChartDecision](), [(0, "")]
    assert blinds is not None
    for node, line in lines:
        event, view = betting.nodes[node], solution.at(line)
        assert isinstance(event, Decision)
        policy = np.zeros((len(event.actions), len(solution.spot.format.hands)))
        policy[:, view.hands_of(event.player)] = view.strategy
        following = []
        for action, child in zip(event.actions, event.children, strict=True):
            after = betting.nodes[child]
            further = isinstance(after, Decision) and after.street == 0
            following.append(len(lines) if further else -1)
            if further:
                lines.append((child, joined(line, action_text(action))))
        decisions.append(ChartDecision(event.player, event.bets(), policy, tuple(following)))
    return ChartBook(file, solution.spot.stack / blinds[1], blinds[1], tuple(decisions))


class AllInCheck(NamedTuple):
    """A decision to call an all-in or fold, judged over all boards.

    Attributes:
        line: the line to it.
        loss: chips per hand that the player's calls and folds lose against the opponent's range, relative to the best ones.
        call: frequency of a call.
        best: frequency of the hands whose call wins more than a fold.
    """

    line: str
    loss: float
    call: float
    best: float


def check_all_ins(solution: HoldemSolution) -> tuple[AllInCheck, ...]:
    """Judge all calls of preflop all-ins by exact equities over all boards; a sampled game pays them approximately.

    Rake is ignored.

    Raises:
        SpecError: the spot does not begin preflop with the whole deck.
    """
    solution_chart(solution)
    tables, members = class_equities(), np.bincount(HAND_CLASSES)
    first, second = (np.bincount(HAND_CLASSES, weights) / members for weights in solution.spot.ranges)
    dealt = first @ tables.pairs @ second
    nodes, found, lines = solution.game.betting.nodes, list[AllInCheck](), [(0, "")]
    for number, line in lines:
        node = nodes[number]
        if not isinstance(node, Decision) or node.street > 0:
            continue
        lines += [(child, joined(line, action_text(act))) for act, child in zip(node.actions, node.children, strict=True)]
        if not line.endswith("a") or len(node.actions) != 2:
            continue
        view, player = solution.at(line), node.player
        own, other = (
            np.bincount(HAND_CLASSES[view.hands_of(seat)], view.weight_of(seat), len(CLASSES)) / members
            for seat in (player, 1 - player)
        )
        chance = tables.pairs / dealt * own[:, None] * other
        called = (chance * (max(node.contributions) * (2 * tables.equity - 1) + node.contributions[player])).sum(axis=1)
        call = solution_chart(solution, line).shares[1]
        held = chance.sum(axis=1)
        total = max(held.sum(), np.finfo(float).tiny)
        loss = float((np.maximum(called, 0) - call * called).sum())
        found.append(AllInCheck(line, loss, float(call @ held / total), float(held[called > 0].sum() / total)))
    return tuple(found)


def all_ins_in_words(solution: HoldemSolution) -> str:
    """One line of text on :func:`check_all_ins`; empty without calls of all-ins."""
    checks, blind = check_all_ins(solution), solution.spot.blinds[1] if solution.spot.blinds else 1.0
    if not checks:
        return ""
    worst = max(checks, key=lambda check: check.loss)
    return (
        f"calls of preflop all-ins lose {1000 * sum(check.loss for check in checks) / blind:.2f} mbb/hand against exact "
        f"equities over all boards, most after {worst.line}: called {100 * worst.call:.1f}%, optimal {100 * worst.best:.1f}%"
    )


def how_made(solution: HoldemSolution) -> str:
    """Text: the boards dealt and the accuracy reached, the bet sizes from the flop on, and calls of all-ins judged exactly."""
    return "\n".join(filter(None, (how_solved(solution), all_ins_in_words(solution))))


def how_solved(solution: HoldemSolution) -> str:
    """Two lines of text: the boards dealt and the accuracy reached, then the bet sizes from the flop onwards."""
    spot, boards = solution.spot, [len(street) for street in solution.game.boards[1:]]
    if solution.settings.until:
        return (
            f"solved until the {solution.settings.until}, with leaf values by {solution.settings.net}; "
            f"{solution.algorithm}, {solution.iterations:,} iterations, {solution.records[-1].cpu_seconds:.0f} CPU seconds\n"
            f"{sizes_after(spot)}"
        )
    dealt = (
        "all boards" if not spot.runouts else ", ".join(f"{n:,} {name}" for n, name in zip(boards, STREETS, strict=False))
    ) + (", fitted to equities" if spot.deal_set else "")
    blind = spot.blinds[1] if spot.blinds else 1.0
    return (
        f"solved on {dealt}; {solution.algorithm}, {solution.iterations:,} iterations, "
        f"{solution.records[-1].cpu_seconds:.0f} CPU seconds; "
        f"exploitability {1000 * solution.exploitability / blind:.1f} mbb/hand in this game\n{sizes_after(spot)}"
    )


def beside_network(file: str) -> str:
    """One line of text on how much a network's charts over all flops differ from a shipped chart; empty for other names."""
    if not is_shipped(file):
        return ""
    distances = json.loads(BY_NETWORK.read_text("utf-8")).get(file)
    if distances is None:
        return ""
    shares = [f"{100 * share:.0f}% {WHERE.get(line, line)}" for line, share in distances["apart"].items()]
    apart = f"by {', '.join(shares).replace('%', '% of play', 1)}"
    if distances["own"]:
        return f"a chart by a network over all 1,755 flops, with other postflop bets, differs from this one {apart}"
    return (
        f"a chart by a network over all 1,755 flops differs from one on 48 flops {apart}; both have pot-sized and all-in "
        "bets after the flop"
    )


def sizes_after(spot: Spot) -> str:
    """Bet sizes from the flop onwards, listed by position if they differ."""
    if not isinstance(spot.bets, BetPlan):
        return "fixed limit"
    texts = []
    for street, name in zip(spot.streets[1:], STREETS, strict=True):
        both = spot.bets.streets[street]
        bets, raises = (by_position([getattr(sizes, what) for sizes in both]) for what in ("bets", "raises"))
        texts.append(f"{name}: bets {bets}, raises {raises}")
    return "; ".join(texts)


def by_position(both: Sequence[tuple[Size, ...]]) -> str:
    """The sizes of the big blind and of the small blind in words, once if they are the same."""
    words = [" or ".join("all-in" if str(size) == "a" else str(size) for size in sizes) or "none" for sizes in both]
    return words[0] if words[0] == words[1] else f"{words[0]} by the big blind and {words[1]} by the small blind"


def chart_distance(one: PreflopChart, other: PreflopChart) -> float:
    """Distance of two charts at the same decision: mean over hands of half the sum of absolute differences, in [0, 1].

    Raises:
        SpecError: the charts have different actions.
    """
    if one.actions != other.actions:
        raise SpecError(
            f"cannot compare charts with different actions: {', '.join(one.actions)} and {', '.join(other.actions)}"
        )
    return float(np.abs(one.shares - other.shares).sum(axis=0)[HAND_CLASSES].mean() / 2)
