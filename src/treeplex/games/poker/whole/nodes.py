"""The betting of whole hold'em as arrays, cards aside: every line that a plan of raises allows."""

from collections.abc import Sequence

from treeplex.engine.buckets.sampling import Nodes
from treeplex.games.base import CHANCE
from treeplex.games.betting_nodes import number_nodes
from treeplex.games.betting_nodes import table_size as table_size
from treeplex.games.poker.whole.betting import CALL, WholeBetting
from treeplex.games.poker.whole.hand import HandRules
from treeplex.games.settlement import Settlement


class TableBetting:
    """The betting of a hand, as :class:`treeplex.games.betting_nodes.Betting` asks for it: states are tables."""

    def __init__(self, rules: HandRules) -> None:
        self.rules = rules

    def first(self) -> WholeBetting:
        return to_act(self.rules, self.rules.first_table)

    def player(self, state: WholeBetting) -> int:
        return state.player

    def street(self, state: WholeBetting) -> int:
        return state.street

    def actions(self, state: WholeBetting) -> Sequence[int]:
        return self.rules.actions(state)

    def kind(self, state: WholeBetting, label: int) -> int:
        return min(label, CALL + 1)

    def after(self, state: WholeBetting, label: int) -> WholeBetting:
        return to_act(self.rules, self.rules.after(state, label))

    def settlement(self, state: WholeBetting) -> Settlement:
        return self.rules.settlement(state, dealt=state.street > 0)


def betting_nodes(rules: HandRules, counts: Sequence[int]) -> Nodes:
    """The betting tree of a hand, and where each decision's numbers stand in tables.

    Args:
        rules: of any number of players.
        counts: how many rows tables have on each street: buckets, or sequences of them.

    Raises:
        SpecError: more lines than memory should hold.
    """
    return number_nodes(TableBetting(rules), rules.betting.players, counts)[0]


def to_act(rules: HandRules, table: WholeBetting) -> WholeBetting:
    """The table once cards that are due have been dealt: somebody acts, or the hand is over."""
    while table.player == CHANCE:
        table = rules.dealt(table, rules.format.board_sizes[table.street + 1])
    return table


def results(rules: HandRules, table: WholeBetting) -> list[float]:
    """What player 0 of two gets at the end of the betting where it loses the showdown, ties and wins."""
    dealt = table.street > 0
    return [rules.paid_out(table, strengths, dealt=dealt)[0] for strengths in ((0, 1), (1, 1), (1, 0))]


def slots_of(nodes: Nodes, node: int) -> slice:
    """The slots of a decision."""
    return slice(int(nodes.first[node]), int(nodes.first[node] + nodes.actions[node]))
