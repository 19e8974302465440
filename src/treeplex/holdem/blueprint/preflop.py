"""Preflop charts from full-game hold'em blueprints: action frequencies by hand class."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import SpecError
from treeplex.games.public import Bets
from treeplex.holdem.betting.rules import CALL, FOLD
from treeplex.holdem.blueprint.policy import HoldemBlueprint
from treeplex.holdem.cards.cards import CLASSES, HAND_CLASSES
from treeplex.holdem.cards.format import HOLDEM
from treeplex.holdem.whole.hand import position_names

BLINDS = ("big blind", "small blind")
"""Names of the two players in heads-up charts."""


@dataclass(frozen=True)
class PreflopChart:
    """The chart of a preflop decision.

    Attributes:
        player: the player to act; of two players, 1 is the small blind, on the button.
        title: the player to act, and the preceding actions.
        actions, kinds: names of the actions, and their kinds: ``fold``, ``check``, ``call``, ``raise`` or ``allin``.
        classes: the 169 classes.
        shares: float64 [A, 169], frequency of each action by class.
        reach: float64 [169], the player's own reach by class; all 1 for blueprints.
        ev: float64 [A, 169], EV of each action in big blinds, relative to folding now; NaN where it is unknown because the
            strategy after the action is not converged; None for blueprints.
    """

    player: int
    title: str
    actions: tuple[str, ...]
    kinds: tuple[str, ...]
    classes: tuple[str, ...]
    shares: NDArray[np.float64]
    reach: NDArray[np.float64] = field(default_factory=lambda: np.ones(len(CLASSES)))
    ev: NDArray[np.float64] | None = None

    @property
    def often(self) -> dict[str, float]:
        """Action frequencies averaged over the hands that reach this node."""
        members = np.bincount(HAND_CLASSES, minlength=len(self.classes)) * self.reach
        return dict(zip(self.actions, (self.shares @ members / members.sum()).tolist(), strict=True))


class ChartDecision(NamedTuple):
    """A decision in a chart book.

    Attributes:
        player: the player to act; 1 is the small blind, on the button.
        bets: the actions, with amounts in the chart's chips.
        policy: float64 [A, H], policy of each hand in the order of the format; 0 for hands outside the player's range.
        following: index of the decision after each action; -1 where no preflop decision follows.
    """

    player: int
    bets: Bets
    policy: NDArray[np.float64]
    following: tuple[int, ...]


class ChartBook(NamedTuple):
    """All preflop decisions of a solved game, starting with the first.

    Attributes:
        name: name of the source.
        stack: stack of each player in big blinds.
        big_blind: big blind in the chart's chips.
        decisions: decisions by index.
    """

    name: str
    stack: float
    big_blind: float
    decisions: tuple[ChartDecision, ...]


def preflop_chart(blueprint: HoldemBlueprint, line: str = "") -> PreflopChart:
    """The chart after a line of actions: ``f``, ``c``, and ``r`` with the chips raised to.

    Raises:
        SpecError: the deck is not the full deck, or the blueprint lacks the preflop line.
    """
    rules = blueprint.game.rules
    if rules.format != HOLDEM:
        raise SpecError("charts of 169 classes need a 52-card deck; this blueprint has a smaller one")
    node, table = 0, rules.betting.root
    for word in words_of(line):
        labels = blueprint.labels(node)
        label = {"f": FOLD, "c": CALL}[word] if word in ("f", "c") else int(word[1:])
        after = blueprint.after(node, labels.index(label)) if label in labels else -1
        if after < 0 or blueprint.nodes.street[after] > 0:
            known = ", ".join({FOLD: "f", CALL: "c"}.get(offered, f"r{offered}") for offered in labels)
            raise SpecError(f"line {line!r}: no player acts preflop after {word!r}; the blueprint offers {known}")
        node, table = after, rules.betting.after(table, label)
    labels = blueprint.labels(node)
    policy = blueprint.policy_at(node, ())
    shares = np.stack([np.bincount(HAND_CLASSES, row, minlength=len(CLASSES)) for row in policy]) / np.bincount(HAND_CLASSES)
    names = tuple(rules.action_name(table, label) for label in labels)
    players = rules.betting.players
    who = BLINDS[table.player] if players == 2 else position_names(players)[rules.order.index(table.player)]
    title = f"{who}, {min(rules.stacks) / rules.betting.big_blind:g} bb" + (f", after {line}" if line else "")
    return PreflopChart(table.player, title, names, tuple(name.split()[0] for name in names), tuple(CLASSES), shares)


def words_of(line: str) -> list[str]:
    """The actions in a line, as separate words.

    Raises:
        SpecError: the text is not a line.
    """
    words, start = list[str](), 0
    while start < len(line):
        end = start + 1
        while end < len(line) and line[end].isdigit():
            end += 1
        words.append(line[start:end])
        if words[-1] not in ("f", "c") and not (words[-1][0] == "r" and len(words[-1]) > 1):
            raise SpecError(f"line {line!r} cannot be read; write f, c, and r with the chips raised to, such as r5r15")
        start = end
    return words
