"""Games as explicit trees: a list of nodes with exact chance probabilities and payoffs."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isfinite

from treeplex.errors import GameError
from treeplex.games.base import Game, State


@dataclass(frozen=True, slots=True)
class Node:
    """One node of a tree; action ids are positions in ``children``.

    Attributes:
        player: the player to act (0-based), ``CHANCE`` or ``TERMINAL``.
        infostate: the name of the information set of the player to act; empty elsewhere.
        actions: readable names of the actions.
        children: the number of the node after each action.
        probabilities: at a chance node, the probability of each action; they sum to one exactly.
        payoffs: at a terminal node, the payoff of each player over the whole path.
    """

    player: int
    infostate: str = ""
    actions: tuple[str, ...] = ()
    children: tuple[int, ...] = ()
    probabilities: tuple[Fraction, ...] = ()
    payoffs: tuple[Fraction, ...] = ()


class ExplicitState(State):
    """A node of an explicit tree."""

    __slots__ = ("nodes", "number")

    def __init__(self, nodes: Sequence[Node], number: int) -> None:
        self.nodes = nodes
        self.number = number

    @property
    def node(self) -> Node:
        """The node, with exact probabilities and payoffs."""
        return self.nodes[self.number]

    def current_player(self) -> int:
        return self.node.player

    def legal_actions(self, player: int | None = None) -> Sequence[int]:
        node = self.node
        return range(len(node.children)) if player is None or player == node.player else ()

    def child(self, action: int) -> "ExplicitState":
        children = self.node.children
        if not 0 <= action < len(children):
            raise GameError(f"action {action} is not legal at node {self.number}; legal actions: {list(range(len(children)))}")
        return ExplicitState(self.nodes, children[action])

    def returns(self) -> Sequence[float]:
        return [float(payoff) for payoff in self.node.payoffs]

    def information_state_string(self, player: int | None = None) -> str:
        node = self.node
        if node.player < 0 or player not in (None, node.player):
            raise GameError(f"the file has no infostate for player {player} at node {self.number}, where another player acts")
        return node.infostate

    def chance_outcomes(self) -> Sequence[tuple[int, float]]:
        return [(action, float(probability)) for action, probability in enumerate(self.node.probabilities)]

    def action_to_string(self, action: int) -> str:
        return self.node.actions[action]


class ExplicitGame(Game):
    """A game whose whole tree is in memory.

    Attributes:
        nodes: all nodes; the first is the root.
        title: the name the file gives to the game.
        player_names: the names the file gives to the players.
    """

    def __init__(self, nodes: Sequence[Node], player_names: Sequence[str], *, title: str = "", spec: str = "") -> None:
        self.nodes = tuple(nodes)
        self.player_names = tuple(player_names)
        self.num_players = len(self.player_names)
        self.title = title
        self.spec = spec

    def new_initial_state(self) -> ExplicitState:
        return ExplicitState(self.nodes, 0)


def exact_probabilities(state: State) -> list[tuple[int, Fraction]]:
    """Return the outcomes of a chance node with fractions that sum to exactly one.

    Floats are converted by :func:`simplest_fractions`.

    Raises:
        GameError: the probabilities do not sum to one within 1e-9.
    """
    if isinstance(state, ExplicitState):
        return list(enumerate(state.node.probabilities))
    outcomes = [(int(action), float(probability)) for action, probability in state.chance_outcomes()]
    if abs(sum(probability for _, probability in outcomes) - 1.0) > 1e-9:
        raise GameError(f"chance probabilities {[probability for _, probability in outcomes]} do not sum to one")
    actions, probabilities = zip(*outcomes, strict=True)
    return list(zip(actions, simplest_fractions(probabilities), strict=True))


def simplest_fractions(probabilities: Sequence[float]) -> list[Fraction]:
    """Return the simplest fractions that sum to exactly one and are within a relative 1e-12 of ``probabilities``.

    If none have denominators up to 1e9, return the decimals that round to the same floats, with the largest one adjusted.
    """
    for digits in range(1, 10):
        fractions = [Fraction(probability).limit_denominator(10**digits) for probability in probabilities]
        close = all(abs(fraction - Fraction(p)) <= 1e-12 * p for fraction, p in zip(fractions, probabilities, strict=True))
        if close and sum(fractions) == 1:
            return fractions
    decimals = [Fraction(repr(float(probability))) for probability in probabilities]
    largest = max(range(len(decimals)), key=decimals.__getitem__)
    decimals[largest] += 1 - sum(decimals)
    return decimals


def exact_payoffs(state: State) -> list[Fraction]:
    """Return the payoffs at a terminal state, each as in :func:`simplest_fraction`."""
    if isinstance(state, ExplicitState):
        return list(state.node.payoffs)
    return [simplest_fraction(float(payoff)) for payoff in state.returns()]


def simplest_fraction(value: float) -> Fraction:
    """Return the simplest fraction that rounds to ``value``; the shortest decimal if its denominator would exceed a million."""
    if not isfinite(value):
        raise GameError(f"a payoff is {value}; payoffs must be finite numbers")
    simple = Fraction(value).limit_denominator(10**6)
    return simple if float(simple) == value else Fraction(repr(value))


@lru_cache(maxsize=10_000)
def exact_number(text: str) -> Fraction:
    """Parse an integer, a decimal or a fraction exactly.

    Raises:
        ValueError: not a number, denominator 0, or out of range for a float.
    """
    exponent = text.lower().rpartition("e")[2] if "e" in text.lower() else "0"
    if len(text) > 1000 or len(exponent.strip("+-")) > 3:
        raise ValueError("the number is too long")
    try:
        value = Fraction(text)
        float(value)
    except ZeroDivisionError as error:
        raise ValueError("the denominator is 0") from error
    except OverflowError as error:
        raise ValueError("the number is too large for a float") from error
    return value
