"""The betting tree of full-game hold'em as arrays, without cards: every line with the given raise sizes."""

from collections.abc import Sequence
from functools import partial

from treeplex.engine.betting.sampling import Nodes
from treeplex.errors import SpecError
from treeplex.games.betting.nodes import Visit, number_nodes
from treeplex.games.betting.nodes import table_size as table_size
from treeplex.games.betting.settlement import Settlement
from treeplex.holdem.betting.rules import CALL, BettingState
from treeplex.holdem.whole.hand import HandRules


def visit_table(rules: HandRules, state: BettingState) -> Visit | Settlement:
    """The node of a betting state, see :func:`treeplex.games.betting.nodes.number_nodes`."""
    if state.player < 0:
        return rules.settlement(state, dealt=state.street > 0)
    actions = rules.betting.actions(state)
    kinds = [min(label, CALL + 1) for label in actions]
    after = [rules.betting.to_act(next_state) for next_state in rules.betting.following(state, actions)]
    return Visit(state.player, state.street, list(actions), kinds, after)


def check_acting(rules: HandRules) -> None:
    """Reject stacks that leave no decision after blinds and antes.

    Raises:
        SpecError: there is no decision.
    """
    if rules.betting.to_act(rules.betting.root).player < 0:
        raise too_short(rules, "no player has a decision after")


def check_table(rules: HandRules) -> None:
    """Reject stacks that leave no decision, or are too short for any player to post the big blind.

    Raises:
        SpecError: the stacks are too short.
    """
    check_acting(rules)
    if max(rules.stacks) < rules.betting.big_blind:
        raise too_short(rules, "no player can pay")


def too_short(rules: HandRules, what: str) -> SpecError:
    """The error for stacks that are too short for blinds and antes."""
    antes, big = max(rules.betting.antes, default=0), rules.betting.big_blind
    posted, needed = (" and the antes", " and the ante") if antes else ("", "")
    return SpecError(
        f"holdem: with {rules.stack_text} {what} the blinds of {rules.blinds_text}{posted}; give all players more than the big "
        f"blind{needed}, such as stack={20 * big + antes}"
    )


def betting_nodes(rules: HandRules, counts: Sequence[int]) -> Nodes:
    """The betting tree of a hand, and the location of each decision's numbers in tables.

    Args:
        rules: rules of any number of players.
        counts: number of table rows on each street: buckets, or sequences of them.

    Raises:
        SpecError: there is no decision, or there are too many lines for memory.
    """
    check_acting(rules)
    first = rules.betting.to_act(rules.betting.root)
    return number_nodes(first, partial(visit_table, rules), rules.betting.players, counts)[0]


def slots_of(nodes: Nodes, node: int) -> slice:
    """The slots of a decision."""
    return slice(int(nodes.first[node]), int(nodes.first[node] + nodes.actions[node]))
