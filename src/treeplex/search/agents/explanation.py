"""Explanations of an agent's policy: beliefs, policy and values by hand."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from treeplex.base import notebook
from treeplex.base.arrays import Floats
from treeplex.base.dataframes import dataframe
from treeplex.base.digits import three_digits

SHOWN_HANDS = 20
"""Maximum number of hands shown for the player to act, most likely first."""
SHOWN_OTHERS = 6
"""Maximum number of hands shown for each other player."""


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """An agent's beliefs, policy and values at a decision.

    ``print`` and notebooks show it as a table. The columns of arrays are a player's hands, in the order of :attr:`hands`; the
    rows of ``policy`` and ``values`` are the :attr:`actions`.

    Attributes:
        agent: the agent's class.
        state: the public state as text.
        player: the player to act.
        hands: names of each player's hands.
        actions: the names of the actions.
        policy: float64 [A, H], the probability of each action with each hand of the player to act.
        possible: bool [H], the possible hands of the player to act.
        beliefs: float64 [H_i] for each player, the probability of each hand given the history, summing to 1; None if the agent
            has no beliefs.
        values: float64 [A, H], the expected payoff of each action with each hand if all players then follow the search's
            policy, in the game's units; NaN for hands without a compatible opposing hand. In hold'em this is the search's
            average policy, and values are chips relative to half the starting pot. None if the agent does not search or
            computes no values.
        iterations, seconds: cost of the search behind this policy; None for an agent that does not search.
    """

    agent: str
    state: str
    player: int
    hands: tuple[tuple[str, ...], ...]
    actions: tuple[str, ...]
    policy: Floats
    possible: np.typing.NDArray[np.bool_]
    beliefs: tuple[Floats, ...] | None = None
    values: Floats | None = None
    iterations: int | None = None
    seconds: float | None = None

    @property
    def title(self) -> str:
        """Title naming the acting player, the state and the search time."""
        took = ""
        if self.iterations is not None and self.seconds is not None:
            took = f" ({self.iterations:,} iterations in {three_digits(self.seconds)} s)"
        return f"{self.agent}: player {self.player} to act{took}"

    @property
    def columns(self) -> list[str]:
        """Column heads of :meth:`table`."""
        believed = [] if self.beliefs is None else ["belief"]
        worth = [] if self.values is None else [f"value of {name}" for name in self.actions]
        return ["hand", *believed, *self.actions, *worth]

    @property
    def order(self) -> list[int]:
        """The possible hands of the player to act, most likely first."""
        hands = np.flatnonzero(self.possible)
        if self.beliefs is not None:
            hands = hands[np.argsort(-self.beliefs[self.player][hands], kind="stable")]
        return [int(hand) for hand in hands]

    def table(self, most: int | None = None) -> list[list[str]]:
        """At most ``most`` rows of text under :attr:`columns`, one per hand of the player to act, most likely first."""
        rows = []
        for hand in self.order[:most]:
            row = [self.hands[self.player][hand]]
            row += [] if self.beliefs is None else [f"{self.beliefs[self.player][hand]:.3f}"]
            row += [f"{probability:.3f}" for probability in self.policy[:, hand]]
            row += [] if self.values is None else ["" if np.isnan(worth) else f"{worth:+.3f}" for worth in self.values[:, hand]]
            rows.append(row)
        return rows

    def notes(self) -> list[str]:
        """Notes on the other players' likeliest hands and the number of omitted hands."""
        notes = []
        if len(self.order) > SHOWN_HANDS:
            notes.append(f"{SHOWN_HANDS} of {len(self.order):,} hands")
        for player, believed in enumerate(self.beliefs or ()):
            if player != self.player:
                likely = [int(hand) for hand in np.argsort(-believed, kind="stable") if believed[hand] > 0]
                shown = ", ".join(f"{self.hands[player][hand]} {believed[hand]:.3f}" for hand in likely[:SHOWN_OTHERS])
                rest = f", and {len(likely) - SHOWN_OTHERS:,} more hands" if len(likely) > SHOWN_OTHERS else ""
                notes.append(f"belief about player {player}: {shown}{rest}")
        return notes

    def to_dataframe(self) -> Any:
        """A ``pandas.DataFrame``, one row per player and possible hand.

        Columns: ``player``, ``hand``, ``belief``, one column per action with its probability and, if values are known, one
        named ``value of ACTION``. Policy and values are NaN for players who are not to act.

        Raises:
            SpecError: pandas is not installed.
        """
        rows: list[dict[str, Any]] = []
        for player, names in enumerate(self.hands):
            acts = player == self.player
            if self.beliefs is None and not acts:
                continue
            shown = np.flatnonzero(self.possible if self.beliefs is None or acts else self.beliefs[player] > 0)
            for hand in shown.tolist():
                row: dict[str, Any] = {"player": player, "hand": names[hand]}
                if self.beliefs is not None:
                    row["belief"] = float(self.beliefs[player][hand])
                for number, action in enumerate(self.actions if acts else ()):
                    row[action] = float(self.policy[number, hand])
                    if self.values is not None:
                        row[f"value of {action}"] = float(self.values[number, hand])
                rows.append(row)
        believed = [] if self.beliefs is None else ["belief"]
        return dataframe(rows, ["player", "hand", *believed, *self.columns[1 + len(believed) :]])

    def __str__(self) -> str:
        rows = [self.columns, *self.table(SHOWN_HANDS)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(self.columns))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True))])
            for row in rows
        ]
        return "\n".join([self.title, self.state, *lines, *self.notes()])

    def __repr__(self) -> str:
        return f"<explanation of {self.title}>"

    def _repr_html_(self) -> str:
        return notebook.table(self.columns, self.table(SHOWN_HANDS), self.title, "; ".join([self.state, *self.notes()]))
