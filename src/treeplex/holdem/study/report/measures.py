"""Statistics of a node: equity realisation, pot odds, and minimum defence frequency."""

from dataclasses import dataclass
from math import isfinite, nan

from treeplex.holdem.study.report.export import NodeSource, lines_above, node_report
from treeplex.holdem.study.report.page_data import NodeReport


@dataclass(frozen=True)
class NodeStatistics:
    """Statistics of a node; NaN where undefined.

    Attributes:
        eqr: equity realisation of both players, EV / (equity * pot): below 1 a range wins less than its share.
        call: chips to call; 0 where no bet is faced.
        pot_odds: break-even equity of a call that ends the betting: call / (pot + call).
        mdf: minimum defence frequency, 1 - risked / (pot before + risked), where ``risked`` is the last bet or raise: if the
            range defends less often, a bet with any two cards is profitable.
        defended: frequency with which the range does not fold.
    """

    eqr: tuple[float, float]
    call: float
    pot_odds: float
    mdf: float
    defended: float


def node_statistics(solution: NodeSource, line: str) -> NodeStatistics:
    """Statistics of a node of a solved spot.

    Args:
        solution: the solved spot.
        line: line to the node.

    Raises:
        SpecError: the spot does not have the line.
    """
    node = node_report(solution, line)
    eqr = realised(node)
    call = 0.0 if node.player is None else node.committed[1 - node.player] - node.committed[node.player]
    if node.player is None or call <= 0:
        return NodeStatistics(eqr, 0.0, nan, nan, nan)
    bettor, above = 1 - node.player, lines_above(node.line)
    before = solution.at(above[-1]).stacks[bettor] if above else solution.spot.stack
    risked = before - node.stacks[bettor]
    acting = node.sides[node.player]
    folded = sum(float(share) for kind, share in zip(node.kinds, acting.totals, strict=True) if kind == "fold")
    return NodeStatistics(eqr, call, call / (node.pot + call), 1 - risked / node.pot, 1 - folded)


def realised(node: NodeReport) -> tuple[float, float]:
    """Equity realisation of both players, EV / (equity * pot), with EVs counted from the pot."""
    ratios = []
    for side in node.from_the_pot().sides:
        share = side.mean(side.equity) * node.pot
        ratios.append(side.mean(side.ev) / share if isfinite(share) and share > 0 else nan)
    return ratios[0], ratios[1]
