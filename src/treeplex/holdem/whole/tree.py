"""The betting of whole hold'em for two from a street on as a betting tree of spots, whatever its plan of raises is."""

from treeplex.errors import GameError
from treeplex.games.base import CHANCE
from treeplex.holdem.betting.tree import Action, BettingTree, Decision, Fold, Node, Showdown, StreetEnd, check_nodes
from treeplex.holdem.whole.betting import CALL, FOLD, WholeBetting
from treeplex.holdem.whole.hand import HandRules
from treeplex.holdem.whole.nodes import to_act


def tree_after(rules: HandRules, table: WholeBetting) -> BettingTree:
    """All that may be bet from the beginning of a street on, in the chips of the rules; half of the pot is each player's.

    Actions of a decision are in the order of the rules.

    Args:
        rules: of two players, the dealer player 1.
        table: where the street begins, before anybody has acted on it.

    Raises:
        GameError: another table, or other players.
        SpecError: more betting than can be built.
    """
    if rules.betting.players != 2 or rules.betting.dealer != 1:
        raise GameError("betting trees of streets are of two players, with the button at player 1")
    if table.player < 0 or not table.street or table.raises or set(table.acted) != {-1}:
        raise GameError(f"no street begins after {table.line or 'the blinds'}")
    dead = sum(rules.antes) / 2
    nodes: list[Node | None] = []

    def paid(table: WholeBetting) -> tuple[float, float]:
        return table.paid[0] + dead, table.paid[1] + dead

    def grow(table: WholeBetting, before: WholeBetting) -> int:
        number = len(nodes)
        check_nodes(number + 1)
        nodes.append(None)
        if table.player >= 0:
            actions = list(rules.actions(table))
            children = tuple(grow(rules.after(table, action), table) for action in actions)
            shown = tuple(action_of(rules, table, action) for action in actions)
            bets = float(table.paid[0] - table.base), float(table.paid[1] - table.base)
            nodes[number] = Decision(table.street, table.player, shown, children, paid(table), bets)
        elif any(table.folded):
            nodes[number] = Fold(before.street, table.folded.index(True), paid(table))
        elif table.player == CHANCE and (following := to_act(rules, table)).player >= 0:
            nodes[number] = StreetEnd(table.street, grow(following, table), paid(table))
        else:
            nodes[number] = Showdown(before.street, paid(table))
        return number

    grow(table, table)
    return BettingTree(tuple(node for node in nodes if node is not None), range(table.street, len(rules.format.deal)))


def action_of(rules: HandRules, table: WholeBetting, action: int) -> Action:
    """An action of the rules as one of a spot."""
    if action == FOLD:
        return Action("fold")
    if action == CALL:
        faced = min(table.faced, rules.stacks[table.player])
        return Action("call", float(faced - table.base)) if faced > table.paid[table.player] else Action("check")
    most = min(rules.stacks)
    kind = "allin" if action >= most else "raise" if table.faced > table.base else "bet"
    return Action(kind, float(action - table.base))
