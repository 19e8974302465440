"""The betting tree of a spot: all betting lines on all remaining streets, without cards.

Legal bets do not depend on the cards, so one tree serves every board: a street ends in one :class:`StreetEnd`, whatever the
next card. Nodes are numbered in preorder, and the root is node 0.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from treeplex.errors import GameError
from treeplex.games.betting.stakes import Stakes
from treeplex.games.public import Bets
from treeplex.holdem.betting.rules import CALL, NOT_YET, BettingRules, BettingState
from treeplex.holdem.betting.tree_size import betting_size, check_nodes
from treeplex.holdem.spots.spot import Rake, Spot

MANY_NODES = 3_000
"""Number of nodes at which the builder checks the tree's final size."""
KINDS = ("fold", "check", "call", "bet", "raise", "allin")
BET_KINDS = {"fold": "fold", "check": "pass", "call": "pass"}


@dataclass(frozen=True, slots=True)
class Action:
    """An action of a player.

    Attributes:
        kind: ``fold``, ``check``, ``call``, ``bet``, ``raise`` or ``allin`` (a bet or raise of the whole stack).
        amount: for bets and raises the player's total chips on this street after the action ("raise to"); for calls, the
            chips matched on this street; else 0.
    """

    kind: str
    amount: float = 0.0

    def __str__(self) -> str:
        return f"{self.kind} {self.amount:.12g}" if self.kind in ("bet", "raise", "allin") else self.kind


@dataclass(frozen=True, slots=True)
class Decision:
    """A node at which a player acts.

    Attributes:
        street: index of ``format.deal``.
        player: 0 out of position, 1 in position.
        actions: fold and call, or check; then bets or raises by amount, all-in last.
        children: the node after each action.
        contributions: chips that each player has in the pot, half of the starting pot included.
        street_bets: chips that each player has put in on this street.
    """

    street: int
    player: int
    actions: tuple[Action, ...]
    children: tuple[int, ...]
    contributions: tuple[float, float]
    street_bets: tuple[float, float]

    def bets(self) -> Bets:
        """The actions at this decision with their bet sizes."""
        faced, pot = max(self.street_bets), 2 * max(self.contributions)
        kinds = tuple(BET_KINDS.get(action.kind, "bet") for action in self.actions)
        raised = np.array([kind == "bet" for kind in kinds])
        chips = np.where(raised, [action.amount for action in self.actions], 0.0)
        return Bets(kinds, np.where(raised, (chips - faced) / pot, 0.0), chips, pot)


@dataclass(frozen=True, slots=True)
class Fold:
    """Player ``loser`` folded on ``street``."""

    street: int
    loser: int
    contributions: tuple[float, float]


@dataclass(frozen=True, slots=True)
class Showdown:
    """The betting ended on ``street``; before the last street, both players are all-in and the remaining board is dealt."""

    street: int
    contributions: tuple[float, float]


@dataclass(frozen=True, slots=True)
class StreetEnd:
    """``street`` ended and both players have chips left: cards are dealt, then the decision ``child`` opens the next street."""

    street: int
    child: int
    contributions: tuple[float, float]


Node = Decision | Fold | Showdown | StreetEnd


@dataclass(frozen=True, eq=False)
class BettingTree:
    """All nodes of a betting tree in preorder, and its streets."""

    nodes: tuple[Node, ...]
    streets: range

    @cached_property
    def names(self) -> list[str]:
        """Names of all actions in the tree, ordered by kind, then by amount, as at every node."""
        actions = {action for _, node in self.decisions() for action in node.actions}
        return list(dict.fromkeys(map(str, sorted(actions, key=lambda action: (KINDS.index(action.kind), action.amount)))))

    @cached_property
    def moves(self) -> list[list[int]]:
        """The actions at each node as indices into :attr:`names`; empty where no player acts."""
        number = {name: action for action, name in enumerate(self.names)}
        return [[number[str(action)] for action in node.actions] if isinstance(node, Decision) else [] for node in self.nodes]

    @cached_property
    def lines(self) -> list[str]:
        """The actions that lead to each node, as text with ``/`` between streets."""
        lines = [""] * len(self)
        for number, node in enumerate(self.nodes):
            if isinstance(node, Decision):
                for action, child in zip(node.actions, node.children, strict=True):
                    separator = "" if lines[number] == "" or lines[number].endswith("/") else ","
                    lines[child] = f"{lines[number]}{separator}{action}"
            elif isinstance(node, StreetEnd):
                lines[node.child] = f"{lines[number]}/"
        return lines

    def __len__(self) -> int:
        return len(self.nodes)

    def decisions(self, street: int | None = None) -> Iterator[tuple[int, Decision]]:
        """The decisions (of one street) with their node numbers, in preorder."""
        for number, node in enumerate(self.nodes):
            if isinstance(node, Decision) and street in (None, node.street):
                yield number, node


def payoffs(node: Fold | Showdown, rake: Rake) -> tuple[float, ...]:
    """Payoffs at a terminal, in chips relative to each player taking back half of the starting pot.

    With m the smaller contribution, the pot is 2m (an uncalled bet is returned) and the rake r is taken from it: the winner
    gets m - r, the loser -m, and in a tie both get -r/2.

    Returns:
        For a fold, the payoffs of players 0 and 1; for a showdown, the payoffs of a win, a loss and a tie.
    """
    matched, taken = min(node.contributions), rake_taken(node, rake)
    if isinstance(node, Showdown):
        return matched - taken, -matched, -taken / 2
    return (-matched, matched - taken) if node.loser == 0 else (matched - taken, -matched)


def rake_taken(node: Fold | Showdown, rake: Rake) -> float:
    """The rake in chips that the house takes from the pot at a terminal."""
    return rake.of(2 * min(node.contributions), dealt=isinstance(node, Showdown) or node.street > 0)


def stakes_of(node: Node) -> Stakes:
    """Each player's chips in the pot at a node; at terminals, after settlement."""
    return Stakes(node.contributions, node.street, isinstance(node, Fold | Showdown))


def betting_tree(spot: Spot) -> BettingTree:
    """The betting tree of a spot.

    Raises:
        SpecError: more than :data:`treeplex.holdem.betting.tree_size.MOST_NODES` nodes; checked before they are built.
    """
    return tree_from(spot.betting, spot.betting.root, spot.pot / 2)


def tree_from(rules: BettingRules, root: BettingState, half_pot: float | None = None) -> BettingTree:
    """The betting tree from the start of a street on.

    Args:
        rules: rules of two players, with the dealer as player 1.
        root: the state at the start of the street, before any action on it.
        half_pot: each player's half of the chips that no bet has put into the pot; None for half of ``rules.dead``.

    Raises:
        GameError: not the start of a street, or not two such players.
        SpecError: the tree is too large.
    """
    if rules.players != 2 or rules.dealer != 1:
        raise GameError("a betting tree needs two players, with player 1 on the button")
    if root.player < 0 or root.raises or set(root.acted) != {NOT_YET}:
        raise GameError(f"no street begins after {root.line or 'the blinds'}; give the state at the start of a street")
    builder = TreeBuilder(rules, rules.dead / 2 * rules.chip if half_pot is None else half_pot)
    builder.grow(root)
    return BettingTree(tuple(builder.frozen()), range(root.street, rules.streets))


class Draft:
    """A decision or street end whose children are not yet complete."""

    __slots__ = ("children", "node")

    def __init__(self, node: "Decision | StreetEnd") -> None:
        self.node = node
        self.children: list[int] = []


class TreeBuilder:
    """Builds the tree depth first with an explicit stack, so that long lines do not exceed Python's recursion limit.

    A state reached by several lines is computed once.
    """

    def __init__(self, rules: BettingRules, half_pot: float) -> None:
        self.rules, self.half_pot, self.chip = rules, half_pot, rules.chip
        self.drafts: list[Draft | Fold | Showdown] = []
        self.known: dict[tuple[object, ...], tuple[Decision, list[BettingState]]] = {}

    def grow(self, root: BettingState) -> None:
        """Visit every node in preorder."""
        rules, drafts, known = self.rules, self.drafts, self.known
        pending: list[tuple[BettingState, int, Draft | None]] = [(root, root.street, None)]
        while pending:
            state, street, parent = pending.pop()
            if parent is not None:
                parent.children.append(len(drafts))
            if len(drafts) == MANY_NODES:
                check_nodes(betting_size(rules, root).nodes)
            if state.player >= 0:
                if (expansion := known.get(state.key)) is None:
                    expansion = known[state.key] = self.decision(state)
                draft = Draft(expansion[0])
                pending.extend([(after, state.street, draft) for after in reversed(expansion[1])])
                drafts.append(draft)
            elif True in state.folded:
                drafts.append(Fold(street, state.folded.index(True), self.paid(state)))
            elif (following := rules.to_act(state)).player >= 0:
                draft = Draft(StreetEnd(street, -1, self.paid(state)))
                pending.append((following, following.street, draft))
                drafts.append(draft)
            else:
                drafts.append(Showdown(street, self.paid(state)))

    def decision(self, state: BettingState) -> tuple[Decision, list[BettingState]]:
        """The decision at a state, without its children, and the state after each of its actions."""
        actions = self.rules.actions(state)
        after = self.rules.following(state, actions)
        shown = tuple([self.action(state, action) for action in actions.passive])
        most = min(self.rules.behind)
        word = "raise" if state.faced > state.base else "bet"
        shown += tuple([Action("allin" if to >= most else word, (to - state.base) * self.chip) for to in actions.raises])
        bets = (state.paid[0] - state.base) * self.chip, (state.paid[1] - state.base) * self.chip
        return Decision(state.street, state.player, shown, (), self.paid(state), bets), after

    def action(self, state: BettingState, action: int) -> Action:
        """A fold, check or call as an :class:`Action`."""
        if action != CALL:
            return Action("fold")
        faced = min(state.faced, self.rules.behind[state.player])
        return Action("call", (faced - state.base) * self.chip) if faced > state.paid[state.player] else Action("check")

    def paid(self, state: BettingState) -> tuple[float, float]:
        """Each player's chips in the pot at a state."""
        first, second = state.paid
        return self.half_pot + first * self.chip, self.half_pot + second * self.chip

    def frozen(self) -> Iterator[Node]:
        """The finished nodes."""
        for draft in self.drafts:
            if not isinstance(draft, Draft):
                yield draft
            elif isinstance(node := draft.node, StreetEnd):
                yield StreetEnd(node.street, draft.children[0], node.contributions)
            else:
                children = tuple(draft.children)
                yield Decision(node.street, node.player, node.actions, children, node.contributions, node.street_bets)
