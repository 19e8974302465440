"""What players reckon at a node: equity realised, pot odds, and how often one has to defend."""

from dataclasses import dataclass
from math import isfinite, nan

from treeplex.holdem.study.report.export import Viewed, lines_above, node_report
from treeplex.holdem.study.report.page_data import NodeReport


@dataclass(frozen=True)
class NodeStatistics:
    """Statistics of a node; nan where undefined.

    Attributes:
        eqr: of both players, EV over what equity times pot is worth: below 1 a range wins less than its share.
        call: chips the player who acts needs to call; 0 where nothing is faced.
        pot_odds: the equity from which a call pays if nothing follows: call / (pot + call).
        mdf: minimum defence frequency, 1 - risked / (pot before + risked): defending less often lets the bettor win with
            any two cards; ``risked`` is what the last bet or raise put in.
        defended: how often the range does not fold.
    """

    eqr: tuple[float, float]
    call: float
    pot_odds: float
    mdf: float
    defended: float


def node_statistics(solution: Viewed, line: str) -> NodeStatistics:
    """Statistics of a node of a solved spot.

    Args:
        solution: the solved spot.
        line: to the node.

    Raises:
        SpecError: a line that the spot does not have.
    """
    node = node_report(solution, line)
    eqr = realised(node)
    call = 0.0 if node.player is None else node.committed[1 - node.player] - node.committed[node.player]
    if node.player is None or call <= 0:
        return NodeStatistics(eqr, 0.0, nan, nan, nan)
    bettor, above = 1 - node.player, lines_above(node.line)
    before = solution.at(above[-1]).stacks[bettor] if above else solution.spot.stack + solution.spot.pot / 2
    risked = before - node.stacks[bettor]
    acting = node.sides[node.player]
    folded = sum(float(share) for kind, share in zip(node.kinds, acting.totals, strict=True) if kind == "fold")
    return NodeStatistics(eqr, call, call / (node.pot + call), 1 - risked / node.pot, 1 - folded)


def realised(node: NodeReport) -> tuple[float, float]:
    """How much of their equity both players realise, EV / (equity * pot), EVs counted from the pot."""
    found = []
    for side in node.from_the_pot().sides:
        share = side.mean(side.equity) * node.pot
        found.append(side.mean(side.ev) / share if isfinite(share) and share > 0 else nan)
    return found[0], found[1]
