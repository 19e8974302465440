"""One decision on every turn or river card: action frequencies, EV and equity, for a table of ranks and suits."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats
from treeplex.base.spec import shown
from treeplex.errors import SpecError
from treeplex.holdem.cards.cards import cards_to_string, parse_cards
from treeplex.holdem.policies.line import read_steps
from treeplex.holdem.study.report.export import NodeSource, node_report
from treeplex.holdem.study.report.page_data import NodeReport


@dataclass(frozen=True, eq=False)
class Runouts:
    """A decision after every card, in the order of the deck, 2c first.

    Attributes:
        before: the canonical line up to the card.
        after: the canonical actions after the card; empty for the first decision.
        player: the player to act.
        cards: int64 [n], the cards.
        chance: float64 [n], probability of each card, given both ranges; sums to 1. In a spot with a subset of boards, a card
            counts for those that it represents.
        actions: names of the actions on all cards together.
        frequency: float64 [A, n], the range's frequency of each action; NaN at zero reach.
        ev: float64 [2, n], both players' chips from the pot from here on.
        equity: float64 [2, n], both players' shares of the pot, in [0, 1].
        reach: float64 [n], probability of reaching the decision after the card.
    """

    before: str
    after: str
    player: int
    cards: NDArray[np.int64]
    chance: Floats
    actions: tuple[str, ...]
    frequency: Floats
    ev: Floats
    equity: Floats
    reach: Floats


def runouts(solution: NodeSource, line: str) -> Runouts:
    """A decision after every turn or river card.

    Args:
        solution: a solved spot.
        line: ends where a card is dealt (``"x,x"``: the first decision on every card), or at a decision after a card, which
            then means every card (``"x,x,7s,b50%"``).

    Raises:
        SpecError: the spot does not have the line, no single card is dealt along it, or it ends at no decision.
    """
    before, after = around_card(solution, line)
    lines = solution.at(before).children()
    cards = [parse_cards(card_line.rpartition(",")[2])[0] for card_line in lines]
    opened = [float(np.nan_to_num(solution.at(card_line).compatible_of(0)).sum()) for card_line in lines]
    nodes, reached = [], []
    for card_line in lines:
        at = f"{card_line},{after}" if after else card_line
        node = node_report(solution, at)
        nodes.append(node.from_the_pot())
        reached.append(float(np.nan_to_num(solution.at(at).compatible_of(0)).sum()))
    player = nodes[0].player
    if player is None:
        raise SpecError(f"line {shown(line)}: no player acts after the card; extend the line to a decision")
    chance = np.array([solution.at(card_line).represents for card_line in lines]) * opened
    total = chance.sum()
    return Runouts(
        before=before,
        after=after,
        player=player,
        cards=np.array(cards, np.int64),
        chance=chance / total if total else chance,
        actions=(names := tuple(dict.fromkeys(name for node in nodes for name in node.actions))),
        frequency=np.array([frequencies(node, player, names) for node in nodes]).T,
        ev=np.array([[side.mean(side.ev) for side in node.sides] for node in nodes]).T,
        equity=np.array([[side.mean(side.equity) for side in node.sides] for node in nodes]).T,
        reach=np.divide(reached, opened, out=np.zeros(len(cards)), where=np.array(opened) > 0),
    )


def frequencies(node: NodeReport, player: int, names: tuple[str, ...]) -> list[float]:
    """A range's frequency of each named action; 0 for missing actions."""
    taken = dict(zip(node.actions, node.sides[player].totals, strict=True))
    return [float(taken.get(name, 0.0)) for name in names]


def around_card(solution: NodeSource, line: str) -> tuple[str, str]:
    """The canonical line before the card that varies, and the actions after it."""
    view = solution.at(line)
    parts = view.line.split(",") if view.line else []
    dealt = [index for index, part in enumerate(parts) if read_steps(part)[0].cards]
    if view.player is None and view.children() and len(view.actions) == 0:
        before, after = view.line, ""
    elif dealt:
        before, after = ",".join(parts[: dealt[-1]]), ",".join(parts[dealt[-1] + 1 :])
    else:
        raise SpecError(
            f"line {shown(line)}: no card is dealt here; end the line where a street ends, as in x,x, or after a card"
        )
    if any(len(parse_cards(child.rpartition(",")[2])) != 1 for child in solution.at(before).children()[:1]):
        board = cards_to_string(solution.at(before).board)
        raise SpecError(f"line {shown(line)}: several cards are dealt together on {board or 'the flop'}; name a later street")
    return before, after
