"""The betting of one street from the table with which it begins: decisions, ends after which cards come, and stops."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from treeplex.games.base import CHANCE
from treeplex.holdem.betting.rules import BettingState
from treeplex.holdem.whole.hand import HandRules
from treeplex.holdem.whole.public import PublicHand, PublicHoldem

Last = tuple[int, int]
"""A decision and the number of an action there; ``ROOT`` before a player's first one."""
ROOT: Last = (-1, -1)
DECISION, END, STOP = "decision", "end", "stop"


class StreetDecision(NamedTuple):
    """Somebody acts.

    Attributes:
        table: the betting so far.
        player: who.
        actions: as the rules number them.
        both: each player's last action before.
        after: what follows each action: its kind, ``decision``, ``end`` or ``stop``, and its number.
    """

    table: BettingState
    player: int
    actions: tuple[int, ...]
    both: tuple[Last, Last]
    after: tuple[tuple[str, int], ...]

    @property
    def last(self) -> Last:
        """The player's own."""
        return self.both[self.player]


class StreetEnd(NamedTuple):
    """Cards come, and players act again: each player's last action, and the table before the cards."""

    table: BettingState
    last: tuple[Last, Last]


class StreetStop(NamedTuple):
    """A node without further decisions.

    Attributes:
        last: each player's last action.
        paid: what player 0 gets where it loses a showdown, ties and wins.
        shown: whether hands are shown; else one has folded.
    """

    last: tuple[Last, Last]
    paid: tuple[float, float, float]
    shown: bool


@dataclass(frozen=True)
class StreetBetting:
    """The betting of a street, decisions in preorder.

    Attributes:
        decisions, ends, stops: what there is.
    """

    decisions: tuple[StreetDecision, ...]
    ends: tuple[StreetEnd, ...]
    stops: tuple[StreetStop, ...]

    @classmethod
    def of(cls, game: PublicHoldem, table: BettingState, board: Sequence[int]) -> "StreetBetting":
        """The betting of a street that begins with a table; of the board only the length matters."""
        decisions: list[StreetDecision | None] = []
        ends, stops = list[StreetEnd](), list[StreetStop]()

        def grow(table: BettingState, last: tuple[Last, Last]) -> tuple[str, int]:
            if table.player >= 0:
                number, player = len(decisions), table.player
                decisions.append(None)
                actions, after = tuple(game.actions(PublicHand(table, tuple(board)))), []
                for place, action in enumerate(actions):
                    own = (number, place)
                    after.append(
                        grow(game.rules.betting.after(table, action), (own, last[1]) if player == 0 else (last[0], own))
                    )
                decisions[number] = StreetDecision(table, player, actions, last, tuple(after))
                return DECISION, number
            if table.player == CHANCE and game.rules.betting.to_act(table).player >= 0:
                ends.append(StreetEnd(table, last))
                return END, len(ends) - 1
            stops.append(stop_of(game.rules, table, last))
            return STOP, len(stops) - 1

        grow(table, (ROOT, ROOT))
        return cls(tuple(each for each in decisions if each is not None), tuple(ends), tuple(stops))


def stop_of(rules: HandRules, table: BettingState, last: tuple[Last, Last]) -> StreetStop:
    """The stop at a table without further decisions, with its payoffs."""
    end = rules.betting.to_act(table)
    lose, tie, win = (rules.paid_out(end, strengths, dealt=end.street > 0)[0] for strengths in ((0, 1), (1, 1), (1, 0)))
    return StreetStop(last, (lose, tie, win), table.folded.count(False) > 1)
