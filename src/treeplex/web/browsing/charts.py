"""Preflop charts with the 169 hand classes at each decision: of full-game hold'em blueprints and of solved spots."""

from typing import Any

from treeplex.errors import SpecError
from treeplex.holdem.blueprint.policy import HoldemBlueprint
from treeplex.holdem.blueprint.preflop import PreflopChart, preflop_chart, words_of
from treeplex.holdem.cards.ranges import range_to_string
from treeplex.holdem.policies.line import action_text, joined
from treeplex.holdem.solve.solution import HoldemSolution
from treeplex.holdem.study.flop_ranges import flop_ranges
from treeplex.holdem.study.preflop_charts import beside_network, how_made, solution_chart, translated_line
from treeplex.holdem.study.report.export import number

WORDS = {"fold": "f", "check": "c", "call": "c"}


class Charts:
    """Preflop charts of a blueprint."""

    def __init__(self, path: str) -> None:
        """Load the blueprint and recompute its buckets, which is slow.

        Raises:
            FileError: not a blueprint.
        """
        self.blueprint = HoldemBlueprint.load(path)

    def chart(self, line: str = "") -> dict[str, Any]:
        """Return the chart of one decision; ``next`` has the line after each action, or None if it leaves preflop.

        Raises:
            SpecError: the blueprint has no such line.
        """
        chart_data = preflop_chart(self.blueprint, line)
        return {
            "line": line,
            "path": ["".join(words_of(line)[:count]) for count in range(len(words_of(line)))],
            **plain(chart_data),
            "next": [self._next(line, name, kind) for name, kind in zip(chart_data.actions, chart_data.kinds, strict=True)],
        }

    def _next(self, line: str, name: str, kind: str) -> str | None:
        after = line + (WORDS[kind] if kind in WORDS else f"r{name.split()[-1]}")
        try:
            preflop_chart(self.blueprint, after)
        except SpecError:
            return None
        return after


def plain(chart: PreflopChart) -> dict[str, Any]:
    """A chart for the page; columns are hand classes in grid order."""
    return {
        "player": chart.player,
        "title": chart.title,
        "actions": list(chart.actions),
        "kinds": list(chart.kinds),
        "often": list(chart.often.values()),
        "shares": chart.shares.round(4).tolist(),
        "reach": chart.reach.round(4).tolist(),
        "ev": None if chart.ev is None else [[number(value) for value in row] for row in chart.ev.round(4)],
    }


def solved_chart(solution: HoldemSolution, line: str) -> dict[str, Any]:
    """The chart of one decision of a solved spot, for any raise sizes in the line.

    Raises:
        SpecError: the spot does not begin preflop with the whole deck, or the line ends at no preflop decision.
    """
    meant, notes = translated_line(solution, line)
    chart, view = solution_chart(solution, meant), solution.at(meant)
    blinds = solution.spot.blinds
    assert blinds is not None
    steps = meant.split(",") if meant else []
    following: list[str | None] = []
    for action in view.actions:
        after = joined(meant, action_text(action))
        child = solution.at(after)
        following.append(after if child.player is not None and child.street == 0 else None)
    return {
        "line": meant,
        "path": [",".join(steps[:count]) for count in range(len(steps))],
        **plain(chart),
        "next": following,
        "notes": list(notes),
        "pot": view.pot / blinds[1],
        "faced": max(view.street_bets) / blinds[1],
        "big_blind": blinds[1],
    }


def about_chart(name: str, solution: HoldemSolution) -> dict[str, Any]:
    """A chart's boards, accuracy and bet sizes, and both ranges of every line that sees a flop.

    Raises:
        SpecError: the spot does not begin preflop with the whole deck.
    """
    lines = [
        {
            "line": each.line,
            "title": each.title,
            "pot_type": each.pot_type,
            "share": each.share,
            "reliable": each.reliable,
            "pot": each.pot,
            "stack": each.stack,
            "ranges": [{"text": range_to_string(weights), "combos": float(weights.sum())} for weights in each.ranges],
        }
        for each in flop_ranges(solution)
    ]
    return {"made": "\n".join(filter(None, (how_made(solution), beside_network(name)))), "lines": lines}
