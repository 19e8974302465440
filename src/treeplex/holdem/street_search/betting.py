"""The betting of one street from its first decision onwards: decisions, street ends, and terminals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from treeplex.games.base import CHANCE
from treeplex.holdem.betting.rules import BettingState
from treeplex.holdem.whole.hand import HandRules
from treeplex.holdem.whole.public import PublicHand, PublicHoldem

Last = tuple[int, int]
"""A decision and the index of an action there; ``ROOT`` before a player's first one."""
ROOT: Last = (-1, -1)
DECISION, END, STOP = "decision", "end", "stop"


class StreetDecision(NamedTuple):
    """A decision on a street.

    Attributes:
        table: the betting so far.
        player: the player to act.
        actions: the actions, as numbered by the rules.
        both: each player's last previous action.
        after: for each action the kind of the next node, ``decision``, ``end`` or ``stop``, and its index.
    """

    table: BettingState
    player: int
    actions: tuple[int, ...]
    both: tuple[Last, Last]
    after: tuple[tuple[str, int], ...]

    @property
    def last(self) -> Last:
        """The acting player's most recent action."""
        return self.both[self.player]


class StreetEnd(NamedTuple):
    """An end of the street after which betting continues: each player's last action, and the betting before the deal."""

    table: BettingState
    last: tuple[Last, Last]


class StreetStop(NamedTuple):
    """A node after which no player acts.

    Attributes:
        last: each player's last action.
        paid: player 0's payoffs if it loses, ties and wins the showdown.
        shown: whether there is a showdown; if not, a player has folded.
    """

    last: tuple[Last, Last]
    paid: tuple[float, float, float]
    shown: bool


@dataclass(frozen=True)
class StreetBetting:
    """The betting of a street, with decisions in preorder.

    Attributes:
        decisions, ends, stops: its nodes.
    """

    decisions: tuple[StreetDecision, ...]
    ends: tuple[StreetEnd, ...]
    stops: tuple[StreetStop, ...]

    @classmethod
    def of(cls, game: PublicHoldem, table: BettingState, board: Sequence[int]) -> "StreetBetting":
        """The betting of a street that begins with ``table``; only the length of ``board`` matters."""
        decisions: list[StreetDecision | None] = []
        ends, stops = list[StreetEnd](), list[StreetStop]()

        def grow(table: BettingState, last: tuple[Last, Last]) -> tuple[str, int]:
            if table.player >= 0:
                number, player = len(decisions), table.player
                decisions.append(None)
                actions, after = tuple(game.actions(PublicHand(table, tuple(board)))), []
                for index, action in enumerate(actions):
                    last_action = (number, index)
                    after.append(
                        grow(
                            game.rules.betting.after(table, action),
                            (last_action, last[1]) if player == 0 else (last[0], last_action),
                        )
                    )
                decisions[number] = StreetDecision(table, player, actions, last, tuple(after))
                return DECISION, number
            if table.player == CHANCE and game.rules.betting.to_act(table).player >= 0:
                ends.append(StreetEnd(table, last))
                return END, len(ends) - 1
            stops.append(stop_of(game.rules, table, last))
            return STOP, len(stops) - 1

        grow(table, (ROOT, ROOT))
        return cls(tuple(decision for decision in decisions if decision is not None), tuple(ends), tuple(stops))


def stop_of(rules: HandRules, table: BettingState, last: tuple[Last, Last]) -> StreetStop:
    """The terminal at a table without further decisions, with its payoffs."""
    end = rules.betting.to_act(table)
    lose, tie, win = (rules.paid_out(end, strengths, dealt=end.street > 0)[0] for strengths in ((0, 1), (1, 1), (1, 0)))
    return StreetStop(last, (lose, tie, win), table.folded.count(False) > 1)
