"""Public games: public states, and a private hand for each player.

A :class:`PublicGame` defines the options at public states, the possible hands, and the joint distribution of hands. Three
classes implement it: :class:`PublicTree`, with a weight for every pair of hands;
:class:`treeplex.holdem.rules.public.HoldemGame`, where hands exclude each other only by shared cards and pairs are never
enumerated; and :class:`treeplex.games.card_game.CardGame`, for any number of players who hold cards.

Public-tree rules are public actions over fixed private hands. In many games (poker, Liar's Dice) chance first deals every
player one private *hand*, and everything after that is public. Such a game is a tree of public nodes with a payoff matrix over
hands at each leaf. Compiling it gives the same game as walking its histories, without enumerating them.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import factorial, prod
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL, on_one_line
from treeplex.games.base import State as History
from treeplex.games.betting.stakes import Stakes

State = Hashable
"""A public state of a :class:`PublicGame`; its type depends on the game."""
DEAL, BETTING = "deal", "betting"
"""Where depth-limited subgames end: after the next chance event, or at the end of the betting round before it."""
MOST_ENTRIES = 50_000_000
"""Largest number of entries of tables over pairs of hands (a few gigabytes)."""


@dataclass(frozen=True)
class Decision:
    """A public node where ``player`` acts; every hand has the same actions.

    A ``private`` action is observed only by its player. It has one public successor (the child of the first action), where hand
    h with action number a of A becomes the hand ``h * A + a``. A tree with private actions serves search alone: return it from
    :meth:`treeplex.games.base.Game.public_game`, so that the game is compiled by walking its rules.
    """

    player: int
    actions: Sequence[int]
    private: bool = False


@dataclass(frozen=True)
class Chance:
    """A public node where chance reveals something.

    ``outcomes`` are pairs (label, weight): ``weight[h0, h1]`` is the probability of the outcome given both hands
    (zero if a hand blocks it). For each pair of hands that can reach the node the weights sum to one.

    If an outcome is several cards and the rules deal them one by one, in any order, ``left`` has the number of possible cards
    at each step. It is needed only to count histories.
    """

    outcomes: Sequence[tuple[int, NDArray[np.float64]]]
    left: tuple[int, ...] = ()

    @property
    def steps(self) -> int:
        """The number of chance actions in one outcome."""
        return max(len(self.left), 1)

    @property
    def orders(self) -> int:
        """The number of orders in which the cards of one outcome can be dealt."""
        return factorial(self.steps)

    @property
    def between(self) -> int:
        """The number of histories between the start and the end of the event, per history before it."""
        return sum(prod(self.left[:step]) for step in range(1, self.steps))


@dataclass(frozen=True)
class Terminal:
    """A terminal public node: player 0 gets ``scale * matrix[h0, h1]``, player 1 the negative.

    Leaves that share a matrix (the same object or equal contents) share one operator.
    """

    matrix: NDArray[np.float64]
    scale: float


@dataclass(frozen=True)
class Options:
    """The actions or chance outcomes at a public state.

    Attributes:
        player: the player to act, ``CHANCE`` or ``TERMINAL``.
        labels: the actions or chance outcomes; empty at the end of the game.
        private: whether only the player observes the action. The one public successor is reached by the first label; hand h
            with action number a of A becomes the hand ``h * A + a`` there.
    """

    player: int
    labels: Sequence[int]
    private: bool = False


class Bets(NamedTuple):
    """The bet sizes of the actions at a decision, in the order of their labels.

    Attributes:
        kinds: kind of each action: ``fold``, ``pass`` (check or call) or ``bet`` (bet, raise or all-in).
        sizes: float64 [A], bets as fractions of the pot after the call; 0 for other actions.
        chips: float64 [A], bets in chips as taken by :meth:`PublicGame.with_action`; 0 for other actions.
        pot: chips in the pot after the call.
    """

    kinds: tuple[str, ...]
    sizes: Floats
    chips: Floats
    pot: float


class PublicGame(ABC):
    """A game of public states and private hands, for beliefs, search and agents.

    Ranges, reaches and values have one array per player: [H_i], or [..., H_i] for a batch. A *range* is the player's own reach
    probability of each hand, up to a factor.

    Attributes:
        players: number of players.
        cut_after: end of depth-limited subgames, :data:`DEAL` or :data:`BETTING`; empty for games without subgames.
        many_at_once: whether :meth:`payoffs_of` and :meth:`chances_of` are vectorised.
        has_tables: whether infosets can be enumerated, for policy tables.
        checks_down: whether :meth:`exactly_shared` and :meth:`odd_chips` are implemented.
        perfect_information: whether there is no private information.
    """

    players: int = 2
    cut_after: ClassVar[str] = ""
    many_at_once: ClassVar[bool] = False
    has_tables: ClassVar[bool] = True
    checks_down: ClassVar[bool] = False
    perfect_information: ClassVar[bool] = False

    @abstractmethod
    def first_state(self) -> State:
        """Return the initial public state."""

    def first_ranges(self) -> tuple[Floats, ...]:
        """Return the initial ranges, float64 [H_i] per player; by default the dealing probabilities."""
        return self.possible(self.first_state())

    @abstractmethod
    def options(self, state: State) -> Options:
        """Return the actions or chance outcomes at a public state."""

    @abstractmethod
    def after(self, state: State, label: int) -> State:
        """Return the public state after an action or a chance outcome; any label of a private action gives the same state.

        Raises:
            GameError: no option has this label.
        """

    @abstractmethod
    def possible(self, state: State) -> tuple[Floats, ...]:
        """Return 1 for possible hands, else 0; float64 [H_i] per player."""

    @abstractmethod
    def dealt(self, state: State) -> tuple[Floats, ...]:
        """Return the unnormalised marginal dealing probability of each hand, float64 [H_i] per player."""

    @abstractmethod
    def opposing(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        """Return the counterfactual reach of each hand (by chance and opponents), float64 [..., H_player].

        Args:
            state: the public state.
            reached: ranges or reaches, float64 [..., H_i] per player; the player's own is ignored.
            player: the player whose hands are evaluated.
        """

    @abstractmethod
    def joint(self, state: State, ranges: Sequence[Floats]) -> Floats:
        """Return the unnormalised weight of every combination of hands, float64 [H_0, H_1, ...] (14 MB for hold'em)."""

    @abstractmethod
    def draw(self, state: State, ranges: Sequence[Floats], generator: np.random.Generator) -> tuple[int, ...]:
        """Sample a hand for each player from the joint distribution.

        Raises:
            GameError: the ranges have no compatible hands.
        """

    @abstractmethod
    def payoffs(self, state: State, hands: Sequence[int]) -> tuple[float, ...]:
        """Return the players' payoffs at a terminal state."""

    @abstractmethod
    def chances(self, state: State, hands: Sequence[int]) -> Floats:
        """Return the chance probability of each label given all hands, float64 [labels]."""

    def payoffs_of(self, state: State, deals: Ints) -> Floats:
        """Return the payoffs, float64 [D, N], of deals int64 [D, N] of hands."""
        return np.array([self.payoffs(state, hands) for hands in deals.tolist()], np.float64).reshape(deals.shape)

    def chances_of(self, state: State, deals: Ints) -> Floats:
        """Return the chance probability of each label, float64 [D, labels], for deals int64 [D, N] of hands."""
        labels = len(self.options(state).labels)
        return np.array([self.chances(state, hands) for hands in deals.tolist()], np.float64).reshape(len(deals), labels)

    def terminal_values(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        """Return the counterfactual terminal value of each of a player's hands, float64 [H_player].

        Args:
            state: a state where betting is over; values are averaged over the cards still to come.
            reached: ranges or reaches, float64 [H_i] per player; the player's own is ignored.
            player: the player whose hands are evaluated.
        """
        raise NotImplementedError(f"{type(self).__name__} does not implement terminal_values()")

    def stakes_at(self, state: State) -> Stakes | None:
        """Return the stakes at a state of poker; None in other games."""
        return None

    def pot_shares(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        """Return each hand's equity if all players check and call from here on; ties count half.

        Args:
            state: a state of poker.
            reached: ranges or reaches, float64 [..., H_i] per player; the player's own is ignored.
            player: the player whose hands are evaluated.

        Returns:
            float64 [..., H_player], from 0 to 1; one half for hands without a compatible opposing hand.
        """
        raise NotImplementedError(f"pot shares are not implemented for {type(self).__name__}")

    def exactly_shared(self, state: State, reached: Sequence[Floats]) -> bool:
        """Return whether :meth:`pot_shares` of these ranges is exact."""
        raise NotImplementedError(f"pot shares are not implemented for {type(self).__name__}")

    def odd_chips(self, state: State, hands: Sequence[int]) -> Floats:
        """Return each player's gain from odd chips relative to an exact split, float64 [N]."""
        raise NotImplementedError(f"pot shares are not implemented for {type(self).__name__}")

    def showdown_payoffs(self, state: State, player: int) -> tuple[float, float]:
        """Return a player's payoffs for winning and for losing the showdown after checks and calls, after rake.

        A tie pays their mean.

        Args:
            state: a state of two-player poker in which nobody has folded.
            player: the player whose payoffs are returned.
        """
        stakes = self.stakes_at(state)
        if stakes is None:
            raise NotImplementedError(f"{type(self).__name__} does not implement showdown_payoffs()")
        most = max(stakes.paid)
        return most, -most

    def infostate_at(self, state: State, player: int, hand: int) -> str:
        """Return the infostate string of the player to act with a hand, as in the rules.

        Raises:
            GameError: the infosets of this game cannot be enumerated.
        """
        raise GameError(f"an agent for {type(self).__name__} has no policy table: its infosets cannot be enumerated")

    def knowledge_at(self, state: State, player: int, hand: int) -> str:
        """Return what a player with this hand knows, in readable form; defaults to the infostate."""
        return self.infostate_at(state, player, hand)

    def history_at(self, state: State, hands: Sequence[int]) -> History | None:
        """Return the history in which players hold these hands; None if the game has only public states."""
        node = getattr(state, "node", None)
        return node if isinstance(node, History) else None

    def hand_name(self, state: State, player: int, hand: int) -> str:
        """Return the name of a hand: its cards or dice if it has any, otherwise the player's knowledge or the hand's number."""
        hands = [int(np.argmax(possible)) for possible in self.possible(state)]
        hands[player] = hand
        try:
            history = self.history_at(state, hands)
            name = None if history is None else history.hand_name(player)
        except IndexError:  # a hand after a private action contains more than the cards
            name = None
        try:
            return name or " ".join(self.knowledge_at(state, player, hand).split())
        except GameError:
            return str(hand)

    def action_name(self, state: State, label: int) -> str:
        """Return a readable name of an action or a chance outcome."""
        return str(label)

    def features_at(self, state: State) -> "Floats | None":
        """Return a state's network features, float64 [F]; None if not implemented."""
        return None

    def bets(self, state: State) -> Bets | None:
        """Return the bet sizes of the actions; None in games without bets, and where no player acts."""
        return None

    def name_of(self, state: State) -> str:
        """Return a description of a state for error messages."""
        return repr(state)

    def picture_of(self, state: State) -> str | None:
        """Return a public state drawn as text; None if undefined."""
        return None

    @property
    def key(self) -> Hashable:
        """A key for comparing games; by default each object is equal only to itself."""
        return self

    @property
    def title(self) -> str:
        """The game's title: the spec of its rules, or the name of its class."""
        rules = getattr(self, "game", None) or getattr(self, "rules", None)
        return getattr(rules, "spec", "") or getattr(rules, "title", "") or type(self).__name__

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.title}: {self.players} players>"

    def cut(self, beliefs: Sequence[Any], horizon: Any, gadget: Any = None) -> Any:
        """Build subgames with game-specific arrays; called by :func:`treeplex.search.subgames.cut.cut` with the same arguments.

        Returns:
            A :class:`treeplex.search.subgames.subgame.Subgame`; None if search should build it from the public tree.
        """
        return None

    def continuations(self, policies: Sequence[Sequence[Any]], boards: int) -> Any:
        """Return the payoffs beyond leaves under continuation policies of a game-specific type.

        Args:
            policies: the continuation policies of each player.
            boards: maximum number of complete boards sampled below a leaf.

        Returns:
            A :class:`treeplex.search.resolving.payoffs.Walk`; None if policies are tables of the public tree.
        """
        return None

    def policy_agent(self, policy: Any, generator: np.random.Generator | None) -> Any:
        """Return an agent (:class:`treeplex.search.agents.agent.Agent`) that plays a game-specific type of policy.

        None if policies are tables of the compiled game.

        Raises:
            PolicyError, FileError: the policy belongs to another game, or its file cannot be read.
        """
        return None

    def rest(self, state: State, ranges: Sequence[Floats]) -> "PublicGame | None":
        """Return the subgame at a state as a separate game with these initial ranges, if that saves work; otherwise None."""
        return None

    def with_action(self, state: State, action: float) -> "tuple[PublicGame, int]":
        """Return the game with an action added at a state, and the label of the new action.

        Raises:
            GameError: the rules do not have the action, or the game cannot be extended.
        """
        raise GameError(f"no action {action!r} at {self.name_of(state)}")

    def label_in(self, state: State, label: int, other: "PublicGame", there: State) -> int:
        """Map an action's label to another version of the game; see :meth:`with_action`.

        Raises:
            GameError: the other version lacks the action.
        """
        return label

    def state_in(self, state: State, other: "PublicGame") -> State:
        """Map a state to another version of the game; see :meth:`with_action`."""
        return state


@dataclass(frozen=True, eq=False)
class PublicState:
    """A public node with the weights of pairs of hands.

    Attributes:
        node: the public node of the rules.
        weight: float64 [H0, H1], unnormalised probability that chance deals the hands and the public outcomes so far.
    """

    node: Hashable
    weight: Floats

    def __repr__(self) -> str:
        return on_one_line(f"<public state of {' x '.join(map(str, self.weight.shape))} hands: {self.node!r}>")

    def successors(self, rules: "PublicTree") -> "tuple[Decision | Chance | Terminal, tuple[PublicState, ...]]":
        """Return the options at a state, and the public state after each action or chance outcome."""
        visited = rules.visit(self.node)
        if isinstance(visited, Terminal):
            return visited, ()
        if isinstance(visited, Chance):
            pairs = ((label, self.weight * probability) for label, probability in visited.outcomes)
        elif visited.private:
            pairs = ((action, split_hands(self.weight, visited)) for action in visited.actions[:1])
        else:
            pairs = ((action, self.weight) for action in visited.actions)
        return visited, tuple(PublicState(rules.child(self.node, label), weight) for label, weight in pairs)


def split_hands(weight: Floats, decision: Decision) -> Floats:
    """Return the weights of hands after a private action: hand h followed by action number a becomes hand ``h * A + a``."""
    return np.repeat(weight, len(decision.actions), axis=decision.player)


class PublicTree(PublicGame):
    """A two-player zero-sum game as public-tree rules; public states are :class:`PublicState` objects.

    ``prior[h0, h1]`` is the joint probability of the two hands (shape [H0, H1], sums to one; zero where they exclude
    each other). Nodes are hashable values; ``root`` is the node after the deal.

    ``deal_histories`` and ``deal_depth`` count the deal in the history tree (as in Table 4 of the DDCFR paper): the number of
    histories strictly before the full deal (including the empty history) and the number of chance actions. ``deals[h0, h1]`` is
    the number of histories of that deal (1 if a deal is one path, 0 if impossible). ``deals_hands`` says that the rules deal
    player 0's hand by one chance action, then player 1's by another.
    """

    cut_after = DEAL
    many_at_once = True
    prior: NDArray[np.float64]
    root: Hashable
    deal_histories: int
    deal_depth: int
    deals: NDArray[np.int64]
    deals_hands: bool = False

    @abstractmethod
    def visit(self, node: Hashable) -> Decision | Chance | Terminal:
        """Return the decision, chance event or terminal at a public node."""

    @abstractmethod
    def child(self, node: Hashable, action: int) -> Hashable:
        """Return the public node after a public action or a chance label."""

    def future(self, node: Hashable) -> Hashable:
        """Return the part of a node that the rest of the game depends on.

        Nodes with equal futures must have the same actions, chance and payoffs. The default is the node itself; a coarser value
        reduces the work of search.
        """
        return node

    def features(self, node: Hashable) -> "NDArray[np.float64] | None":
        """Return a node's network features, float64 [F], with or without the player to act; None if not implemented."""
        return None

    def pot(self, node: Hashable) -> float:
        """Return the pot in the game's units, which scales network values; 1 if there is no pot."""
        stakes = self.stakes(node)
        return 1.0 if stakes is None else float(sum(stakes.paid))

    def strengths(self, node: Hashable, player: int) -> "NDArray[np.float64] | None":
        """Return a player's hand strengths at a node, float64 [H], higher wins; None if hands have no order."""
        return None

    def stakes(self, node: Hashable) -> Stakes | None:
        """Return the stakes at a node of poker; None in other games. Showdown payoffs are then 1, 0 or -1 times a scale."""
        return None

    def picture(self, node: Hashable) -> str | None:
        """Return a node drawn as text; None if undefined."""
        return None

    @abstractmethod
    def infostate(self, node: Hashable, player: int, hand: int) -> str:
        """Return the infostate string of ``player`` with ``hand`` at a decision node, as in the rules."""

    def knowledge(self, node: Hashable, player: int, hand: int) -> str:
        """Return what ``player`` knows in readable form; defaults to the infostate."""
        return self.infostate(node, player, hand)

    @abstractmethod
    def action_to_string(self, node: Hashable, action: int) -> str:
        """Return a readable name of a public action, as in the rules."""

    def first_state(self) -> PublicState:
        return PublicState(self.root, np.asarray(self.prior, np.float64))

    def options(self, state: State) -> Options:
        visited = self.visit(pair_state(state).node)
        if isinstance(visited, Terminal):
            return Options(TERMINAL, ())
        if isinstance(visited, Chance):
            return Options(CHANCE, [label for label, _ in visited.outcomes])
        return Options(visited.player, visited.actions, visited.private)

    def after(self, state: State, label: int) -> PublicState:
        visited, successors = pair_state(state).successors(self)
        if isinstance(visited, Terminal):
            raise GameError(f"the game is over at {self.name_of(state)}")
        labels = [outcome for outcome, _ in visited.outcomes] if isinstance(visited, Chance) else list(visited.actions)
        if label not in labels:
            what = "chance cannot reveal" if isinstance(visited, Chance) else "no action"
            raise GameError(f"{what} {label!r} at {self.name_of(state)}")
        return successors[labels.index(label) if len(successors) > 1 else 0]

    def possible(self, state: State) -> tuple[Floats, ...]:
        possible = pair_state(state).weight > 0
        return np.asarray(possible.any(axis=1), np.float64), np.asarray(possible.any(axis=0), np.float64)

    def dealt(self, state: State) -> tuple[Floats, ...]:
        weight = pair_state(state).weight
        return np.asarray(weight.sum(axis=1)), np.asarray(weight.sum(axis=0))

    def opposing(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        weight = pair_state(state).weight
        return np.asarray(reached[1 - player] @ (weight.T if player == 0 else weight))

    def joint(self, state: State, ranges: Sequence[Floats]) -> Floats:
        return pair_state(state).weight * np.outer(*ranges)

    def draw(self, state: State, ranges: Sequence[Floats], generator: np.random.Generator) -> tuple[int, ...]:
        joint = self.joint(state, ranges)
        total = joint.sum()
        if not total > 0:
            raise GameError(f"no hands in these ranges are compatible at {self.name_of(state)}; widen a range")
        first, second = divmod(pick(generator, (joint / total).ravel()), int(joint.shape[1]))
        return first, second

    def payoffs(self, state: State, hands: Sequence[int]) -> tuple[float, ...]:
        leaf = self.visit(pair_state(state).node)
        assert isinstance(leaf, Terminal)
        payoff = float(leaf.scale * leaf.matrix[hands[0], hands[1]])
        return payoff, -payoff

    def chances(self, state: State, hands: Sequence[int]) -> Floats:
        visited = self.visit(pair_state(state).node)
        assert isinstance(visited, Chance)
        return np.array([weight[hands[0], hands[1]] for _, weight in visited.outcomes])

    def payoffs_of(self, state: State, deals: Ints) -> Floats:
        leaf = self.visit(pair_state(state).node)
        assert isinstance(leaf, Terminal)
        payoffs = leaf.scale * np.asarray(leaf.matrix, np.float64)[deals[:, 0], deals[:, 1]]
        return np.stack((payoffs, -payoffs), axis=1)

    def chances_of(self, state: State, deals: Ints) -> Floats:
        visited = self.visit(pair_state(state).node)
        assert isinstance(visited, Chance)
        return np.stack([np.asarray(weight, np.float64)[deals[:, 0], deals[:, 1]] for _, weight in visited.outcomes], axis=1)

    def terminal_values(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        visited, successors = pair_state(state).successors(self)
        if isinstance(visited, Terminal):
            paid = visited.scale * visited.matrix * pair_state(state).weight
            return np.asarray(reached[1] @ paid.T if player == 0 else -(reached[0] @ paid))
        assert isinstance(visited, Chance)
        return np.asarray(sum(self.terminal_values(successor, reached, player) for successor in successors))

    def stakes_at(self, state: State) -> Stakes | None:
        return self.stakes(pair_state(state).node)

    def pot_shares(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        won, met = checked_down(self, pair_state(state))
        if player == 1:
            won, met = (met - won).T, met.T
        others = reached[1 - player]
        reach = others @ met.T
        return np.divide(others @ won.T, reach, out=np.full_like(reach, 0.5), where=reach > 0)

    def infostate_at(self, state: State, player: int, hand: int) -> str:
        return self.infostate(pair_state(state).node, player, hand)

    def knowledge_at(self, state: State, player: int, hand: int) -> str:
        return self.knowledge(pair_state(state).node, player, hand)

    def action_name(self, state: State, label: int) -> str:
        return self.action_to_string(pair_state(state).node, label)

    def features_at(self, state: State) -> "Floats | None":
        return self.features(pair_state(state).node)

    def name_of(self, state: State) -> str:
        return repr(pair_state(state).node)

    def picture_of(self, state: State) -> str | None:
        return self.picture(pair_state(state).node)


def checked_down(rules: PublicTree, state: PublicState) -> tuple[Floats, Floats]:
    """Return player 0's pot share if everyone checks and calls, and the weight of each pair of hands, both [H0, H1]."""
    visited, successors = state.successors(rules)
    if isinstance(visited, Terminal):
        return state.weight * (1.0 + visited.matrix) / 2.0, state.weight
    if isinstance(visited, Chance):
        shares = [checked_down(rules, successor) for successor in successors]
        return np.asarray(sum(won for won, _ in shares)), np.asarray(sum(met for _, met in shares))
    bets = rules.bets(state)
    assert bets is not None
    return checked_down(rules, successors[bets.kinds.index("pass")])


class OneDeal(PublicTree):
    """A public tree without private hands."""

    def __init__(self) -> None:
        self.prior = np.ones((1, 1))
        self.deals = np.ones((1, 1), np.int64)
        self.deal_histories, self.deal_depth = 0, 0


def pair_state(state: State) -> PublicState:
    """Check that a state belongs to public-tree rules and return it."""
    if not isinstance(state, PublicState):
        raise GameError(f"{state!r} is not a public state of this game; start at first_state(), not at root")
    return state


def pick(generator: np.random.Generator, weights: Floats) -> int:
    """Sample an index in proportion to the weights; robust to rounding."""
    cumulative = np.cumsum(weights)
    return int(min(np.searchsorted(cumulative, generator.random() * cumulative[-1], side="right"), len(weights) - 1))


def check_entries(spec: str, entries: int) -> None:
    """Raise :class:`GameError` if tables over pairs of hands would have more entries than the limit."""
    if entries > MOST_ENTRIES:
        raise GameError(
            f"{spec} has too many hands: tables over hands need {entries:,} entries, more than {MOST_ENTRIES:,}; choose "
            f"smaller parameters"
        )
