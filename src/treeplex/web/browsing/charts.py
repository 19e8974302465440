"""Preflop charts of a full-game hold'em blueprint, with the 169 hand classes at each decision."""

from typing import Any

from treeplex.errors import SpecError
from treeplex.holdem.blueprint.policy import HoldemBlueprint
from treeplex.holdem.blueprint.preflop import preflop_chart, words_of

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
            "game": str(self.blueprint.game),
            "line": line,
            "path": ["".join(words_of(line)[:count]) for count in range(len(words_of(line)))],
            "player": chart_data.player,
            "title": chart_data.title,
            "actions": list(chart_data.actions),
            "kinds": list(chart_data.kinds),
            "often": list(chart_data.often.values()),
            "shares": chart_data.shares.round(4).tolist(),
            "next": [self._next(line, name, kind) for name, kind in zip(chart_data.actions, chart_data.kinds, strict=True)],
        }

    def _next(self, line: str, name: str, kind: str) -> str | None:
        after = line + (WORDS[kind] if kind in WORDS else f"r{name.split()[-1]}")
        try:
            preflop_chart(self.blueprint, after)
        except SpecError:
            return None
        return after
