"""Public games: what everybody sees, and a private hand of each player.

A :class:`PublicGame` says what happens at public states, which hands are possible there, and how a player's hands meet the
others'. Three kinds implement it: :class:`PublicTree`, with a weight for every pair of hands;
:class:`treeplex.holdem.rules.public.HoldemGame`, where hands exclude each other only by shared cards and pairs are never
enumerated; and :class:`treeplex.games.card_game.CardGame`, for any number of players who hold cards.

Public-tree rules are public actions over fixed private hands. In many games (poker, Liar's Dice) chance first deals every
player one private *hand* and all that follows is public. Such a game needs no histories: a tree of public nodes and, at its
leaves, one payoff matrix over hands. Both compile paths give the same game; this one never enumerates histories.
"""

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from treeplex.base.arrays import Floats, Ints
from treeplex.errors import GameError
from treeplex.games.base import CHANCE, TERMINAL, on_one_line
from treeplex.games.base import State as History
from treeplex.games.betting.stakes import Stakes

State = Hashable
"""A public state of a :class:`PublicGame`: what a kind of game makes of it is its own."""
DEAL, BETTING = "deal", "betting"
"""Where depth-limited subgames end: at public states after chance has moved, or with the betting before it does."""
MOST_ENTRIES = 50_000_000
"""The most entries of the tables over pairs of hands: some gigabytes."""


@dataclass(frozen=True)
class Decision:
    """A public node where ``player`` acts; every hand has the same actions.

    A ``private`` action is seen by its player alone: there is one public node after it (the child of the first action), and a
    hand h with action number a of A becomes the hand ``h * A + a`` there.
    """

    player: int
    actions: Sequence[int]
    private: bool = False


@dataclass(frozen=True)
class Chance:
    """A public node where chance shows something.

    ``outcomes`` are pairs (label, weight): ``weight[h0, h1]`` is the probability of the outcome given both hands
    (zero where a hand blocks it). For each pair of hands that can get here the weights sum to one.
    """

    outcomes: Sequence[tuple[int, NDArray[np.float64]]]


@dataclass(frozen=True)
class Terminal:
    """A terminal public node: player 0 gets ``scale * matrix[h0, h1]``, player 1 the negative.

    Leaves that share a matrix (the same object or equal contents) share one operator.
    """

    matrix: NDArray[np.float64]
    scale: float


@dataclass(frozen=True)
class Options:
    """The possible actions or chance outcomes at a public state.

    Attributes:
        player: who acts, or ``CHANCE``, or ``TERMINAL`` where the game is over.
        labels: the actions, or what chance can show; none where the game is over.
        private: whether the action is seen by its player alone: one public state follows, reached by the first label, and a
            hand h with action number a of A becomes the hand ``h * A + a`` there.
    """

    player: int
    labels: Sequence[int]
    private: bool = False


class Bets(NamedTuple):
    """The actions of a player to act, where players bet, in the order of their labels.

    Attributes:
        kinds: ``fold``, ``pass`` (to check or call) or ``bet`` (to bet, raise or go all-in) of each action.
        sizes: float64 [A], a bet as a part of the pot after the call; 0 for all else.
        chips: float64 [A], a bet in chips as :meth:`PublicGame.with_action` takes it; 0 for all else.
        pot: chips in the pot after the call.
    """

    kinds: tuple[str, ...]
    sizes: Floats
    chips: Floats
    pot: float


class PublicGame(ABC):
    """A game of public states and private hands, for beliefs, search and agents.

    Ranges, reaches and values come as one array per player: [H_i], or [..., H_i] for several at once. A *range* is how likely a
    player's own play has made each hand, up to a factor.

    Attributes:
        players: how many play.
        cut_after: where depth-limited subgames end, :data:`DEAL` or :data:`BETTING`; empty for games without subgames.
        many_at_once: whether :meth:`payoffs_of` and :meth:`chances_of` are work of arrays, so that many deals cost little.
        has_tables: whether its infosets are few enough to be enumerated, for policy tables.
        checks_down: whether :meth:`exactly_shared` and :meth:`odd_chips` are written.
        perfect_information: whether there are no private hands.
    """

    players: int = 2
    cut_after: ClassVar[str] = ""
    many_at_once: ClassVar[bool] = False
    has_tables: ClassVar[bool] = True
    checks_down: ClassVar[bool] = False
    perfect_information: ClassVar[bool] = False

    @abstractmethod
    def first_state(self) -> State:
        """The public state in which the game begins."""

    def first_ranges(self) -> tuple[Floats, ...]:
        """Initial ranges, for each player float64 [H_i]; by default the dealing probabilities."""
        return self.possible(self.first_state())

    @abstractmethod
    def options(self, state: State) -> Options:
        """The possible actions or chance outcomes at a public state."""

    @abstractmethod
    def after(self, state: State, label: int) -> State:
        """The public state after an action or an outcome of chance; of a private action, any of them.

        Raises:
            GameError: nothing with this label can happen.
        """

    @abstractmethod
    def possible(self, state: State) -> tuple[Floats, ...]:
        """1 for the hands of each player that chance allows, else 0; for each player float64 [H_i]."""

    @abstractmethod
    def dealt(self, state: State) -> tuple[Floats, ...]:
        """Unnormalised marginal dealing probability of each hand, for each player float64 [H_i]."""

    @abstractmethod
    def opposing(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        """For each hand of a player, how likely chance and the others make it to be met: float64 [..., H_player].

        Args:
            state: the public state.
            reached: for each player float64 [..., H_i], ranges or reaches; the player's own is not looked at.
            player: whose hands.
        """

    @abstractmethod
    def joint(self, state: State, ranges: Sequence[Floats]) -> Floats:
        """The weight of every combination of hands, float64 [H_0, H_1, ...], up to a factor; of hold'em with 52 cards 14 MB."""

    @abstractmethod
    def draw(self, state: State, ranges: Sequence[Floats], generator: np.random.Generator) -> tuple[int, ...]:
        """A hand of each player, drawn from the joint distribution.

        Raises:
            GameError: the ranges exclude each other.
        """

    @abstractmethod
    def payoffs(self, state: State, hands: Sequence[int]) -> tuple[float, ...]:
        """The players' payoffs at a terminal state."""

    @abstractmethod
    def chances(self, state: State, hands: Sequence[int]) -> Floats:
        """Chance probabilities of the labels given all hands, float64 [labels]."""

    def payoffs_of(self, state: State, deals: Ints) -> Floats:
        """:meth:`payoffs` of deals of hands, int64 [D, N]: float64 [D, N]."""
        return np.array([self.payoffs(state, hands) for hands in deals.tolist()], np.float64).reshape(deals.shape)

    def chances_of(self, state: State, deals: Ints) -> Floats:
        """:meth:`chances` given deals of hands, int64 [D, N]: float64 [D, labels]."""
        labels = len(self.options(state).labels)
        return np.array([self.chances(state, hands) for hands in deals.tolist()], np.float64).reshape(len(deals), labels)

    def terminal_values(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        """Counterfactual terminal value of each of a player's hands, float64 [H_player].

        Args:
            state: where all betting is over; averaged over the cards still to come.
            reached: for each player float64 [H_i], ranges or reaches; the player's own is not looked at.
            player: whose hands.
        """
        raise NotImplementedError(f"payoffs of all hands at once are not written for a {type(self).__name__}")

    def stakes_at(self, state: State) -> Stakes | None:
        """The chips at a state of poker; None in other games."""
        return None

    def pot_shares(self, state: State, reached: Sequence[Floats], player: int) -> Floats:
        """Each hand's equity if all check and call from here on, ties halved.

        Args:
            state: a state of poker.
            reached: for each player float64 [..., H_i]; the player's own is not looked at.
            player: whose hands.

        Returns:
            float64 [..., H_player], from 0 to 1; one half for hands that face no opposing hand.
        """
        raise NotImplementedError(f"shares of the pot are not written for a {type(self).__name__}")

    def exactly_shared(self, state: State, reached: Sequence[Floats]) -> bool:
        """Whether :meth:`pot_shares` of these ranges are exact."""
        raise NotImplementedError(f"shares of the pot are not written for a {type(self).__name__}")

    def odd_chips(self, state: State, hands: Sequence[int]) -> Floats:
        """What players get more at the end of a hand than if chips that cannot be split were split, float64 [N]."""
        raise NotImplementedError(f"shares of the pot are not written for a {type(self).__name__}")

    def showdown_payoffs(self, state: State, player: int) -> tuple[float, float]:
        """Payoffs of winning and of losing a showdown after checks and calls, rake deducted.

        A tie gets the mean of both.

        Args:
            state: a state of poker for two where nobody has folded.
            player: whose payoffs.
        """
        stakes = self.stakes_at(state)
        if stakes is None:
            raise NotImplementedError(f"payoffs of showdowns are not written for a {type(self).__name__}")
        most = max(stakes.paid)
        return most, -most

    def infostate_at(self, state: State, player: int, hand: int) -> str:
        """The infostate string of a player with a hand where it acts: equal to the rules' own string.

        Raises:
            GameError: infosets of this game are never enumerated, so they have no strings.
        """
        raise GameError(f"an agent of {type(self).__name__} has no policy table: infosets of this game are never enumerated")

    def knowledge_at(self, state: State, player: int, hand: int) -> str:
        """The knowledge of a player with a hand in readable form; by default the infostate."""
        return self.infostate_at(state, player, hand)

    def history_at(self, state: State, hands: Sequence[int]) -> History | None:
        """The history of the rules in which players hold these hands; None of games that say no more than public states."""
        node = getattr(state, "node", None)
        return node if isinstance(node, History) else None

    def hand_name(self, state: State, player: int, hand: int) -> str:
        """What a hand is called: its cards or dice, else what the player knows with it, else its number."""
        hands = [int(np.argmax(possible)) for possible in self.possible(state)]
        hands[player] = hand
        try:
            history = self.history_at(state, hands)
            name = None if history is None else history.hand_name(player)
        except IndexError:  # a hand after a private action says more than the cards
            name = None
        try:
            return name or " ".join(self.knowledge_at(state, player, hand).split())
        except GameError:
            return str(hand)

    def action_name(self, state: State, label: int) -> str:
        """A readable name of an action or of what chance shows."""
        return str(label)

    def features_at(self, state: State) -> "Floats | None":
        """A state as numbers for a network, float64 [F]; None where not written."""
        return None

    def bets(self, state: State) -> Bets | None:
        """The bet sizes of the actions here; None in games without bets and where no player acts."""
        return None

    def name_of(self, state: State) -> str:
        """A state in words, for messages."""
        return repr(state)

    def picture_of(self, state: State) -> str | None:
        """A picture of a public state as lines of text; None if there is none."""
        return None

    @property
    def key(self) -> Hashable:
        """Equal for games that are equal; by default none is but itself."""
        return self

    @property
    def title(self) -> str:
        """The game's title: its rules' spec, or its class."""
        rules = getattr(self, "game", None) or getattr(self, "rules", None)
        return getattr(rules, "spec", "") or getattr(rules, "title", "") or type(self).__name__

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.title}: {self.players} players>"

    def cut(self, beliefs: Sequence[Any], horizon: Any, gadget: Any = None) -> Any:
        """Subgames in arrays of the game's own; arguments as of :func:`treeplex.search.subgames.cut.cut`, which asks for them.

        Returns:
            A :class:`treeplex.search.subgames.subgame.Subgame`; None where search makes them of the public tree.
        """
        return None

    def continuations(self, policies: Sequence[Sequence[Any]], boards: int) -> Any:
        """Payoffs behind leaves where players go on by policies of the game's own kind.

        Args:
            policies: for each player those that it may go on by.
            boards: complete boards at most that are looked at below a leaf.

        Returns:
            A :class:`treeplex.search.resolving.payoffs.Walk`; None where policies are tables of the public tree.
        """
        return None

    def policy_agent(self, policy: Any, generator: np.random.Generator | None) -> Any:
        """An agent (:class:`treeplex.search.agents.agent.Agent`) that plays a policy of the game's own kind.

        None where policies are tables of the compiled game.

        Raises:
            PolicyError, FileError: a policy of another game, or a file that cannot be read.
        """
        return None

    def rest(self, state: State, ranges: Sequence[Floats]) -> "PublicGame | None":
        """What follows a state as a game of its own that begins with these ranges, where that saves work; else None."""
        return None

    def with_action(self, state: State, action: float) -> "tuple[PublicGame, int]":
        """The game with one more action at a state, if it leaves out some, and the label of that action.

        Raises:
            GameError: the rules have no such action, or nothing can be added.
        """
        raise GameError(f"no action {action!r} at {self.name_of(state)}")

    def label_in(self, state: State, label: int, other: "PublicGame", there: State) -> int:
        """The label in another version of the game, see :meth:`with_action`, of what has this label here.

        Raises:
            GameError: the other version has it no more.
        """
        return label

    def state_in(self, state: State, other: "PublicGame") -> State:
        """Map a state to another version of the game, see :meth:`with_action`."""
        return state


@dataclass(frozen=True, eq=False)
class PublicState:
    """A public node and what it says about pairs of hands.

    Attributes:
        node: the public node of the rules.
        weight: float64 [H0, H1], probability that chance deals the hands and shows what it has shown, up to a factor.
    """

    node: Hashable
    weight: Floats

    def __repr__(self) -> str:
        return on_one_line(f"<public state of {' x '.join(map(str, self.weight.shape))} hands: {self.node!r}>")

    def successors(self, rules: "PublicTree") -> "tuple[Decision | Chance | Terminal, tuple[PublicState, ...]]":
        """The options here, and the public state after each action or chance outcome."""
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
    """Weights of hands after a private action: hand h with action number a becomes hand ``h * A + a``."""
    return np.repeat(weight, len(decision.actions), axis=decision.player)


class PublicTree(PublicGame):
    """A two-player zero-sum game as public-tree rules; its public states are of :class:`PublicState`.

    ``prior[h0, h1]`` is the joint probability of the two hands (shape [H0, H1], sums to one; zero where they exclude
    each other). Nodes are hashable values; ``root`` is the node after the deal.

    ``deal_histories`` and ``deal_depth`` say what the deal costs in the history tree (counts of Table 4 of the DDCFR paper):
    the number of histories strictly before the full deal (the empty history included) and the number of chance actions;
    ``deals[h0, h1]`` is the number of histories that are that deal (1 where a deal is one path, 0 where impossible).
    """

    cut_after = DEAL
    many_at_once = True
    prior: NDArray[np.float64]
    root: Hashable
    deal_histories: int
    deal_depth: int
    deals: NDArray[np.int64]

    @abstractmethod
    def visit(self, node: Hashable) -> Decision | Chance | Terminal:
        """The decision, chance event or end at a public node."""

    @abstractmethod
    def child(self, node: Hashable, action: int) -> Hashable:
        """The public node after a public action or a chance label."""

    def future(self, node: Hashable) -> Hashable:
        """What of a node the rest of the game depends on: nodes with equal futures have the same actions, chance and payoffs.

        The default is the node itself; a coarser answer lets search compile less.
        """
        return node

    def features(self, node: Hashable) -> "NDArray[np.float64] | None":
        """A node as numbers for a network, float64 [F]; whose turn it is need not be among them. None where not written."""
        return None

    def pot(self, node: Hashable) -> float:
        """The pot at a node in the game's units, the scale of network values; 1 without a pot."""
        stakes = self.stakes(node)
        return 1.0 if stakes is None else float(sum(stakes.paid))

    def strengths(self, node: Hashable, player: int) -> "NDArray[np.float64] | None":
        """Hand strengths of a player at a node, float64 [H], higher wins; None without an order."""
        return None

    def stakes(self, node: Hashable) -> Stakes | None:
        """The chips at a node of poker; None in other games. Payoffs of showdowns are then 1, 0 or -1 times a scale."""
        return None

    def picture(self, node: Hashable) -> str | None:
        """A picture of a node as lines of text; None if there is none."""
        return None

    @abstractmethod
    def infostate(self, node: Hashable, player: int, hand: int) -> str:
        """The infostate string of ``player`` holding ``hand`` at a decision node: equal to the rules' own string."""

    def knowledge(self, node: Hashable, player: int, hand: int) -> str:
        """What ``player`` knows for people to read; the infostate where nothing else is written."""
        return self.infostate(node, player, hand)

    @abstractmethod
    def action_to_string(self, node: Hashable, action: int) -> str:
        """A readable name of a public action, equal to the rules' own."""

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
            what = "chance cannot show" if isinstance(visited, Chance) else "no action"
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
            raise GameError(f"no pair of hands of these ranges is possible at {self.name_of(state)}; widen a range")
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
        return np.asarray(sum(self.terminal_values(each, reached, player) for each in successors))

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
    """The share of the pot that player 0 gets if all check and call, and the weight of each pair of hands, both [H0, H1]."""
    visited, successors = state.successors(rules)
    if isinstance(visited, Terminal):
        return state.weight * (1.0 + visited.matrix) / 2.0, state.weight
    if isinstance(visited, Chance):
        found = [checked_down(rules, each) for each in successors]
        return np.asarray(sum(won for won, _ in found)), np.asarray(sum(met for _, met in found))
    bets = rules.bets(state)
    assert bets is not None
    return checked_down(rules, successors[bets.kinds.index("pass")])


class OneDeal(PublicTree):
    """A public tree whose players are dealt nothing."""

    def __init__(self) -> None:
        self.prior = np.ones((1, 1))
        self.deals = np.ones((1, 1), np.int64)
        self.deal_histories, self.deal_depth = 0, 0


def pair_state(state: State) -> PublicState:
    """A state of public-tree rules."""
    assert isinstance(state, PublicState)
    return state


def pick(generator: np.random.Generator, weights: Floats) -> int:
    """An index by its weight; any of positive weight where rounding leaves none."""
    cumulative = np.cumsum(weights)
    return int(min(np.searchsorted(cumulative, generator.random() * cumulative[-1], side="right"), len(weights) - 1))


def check_entries(spec: str, entries: int) -> None:
    """Raise :class:`GameError` for a game whose tables over pairs of hands would have too many ``entries``."""
    if entries > MOST_ENTRIES:
        raise GameError(
            f"{spec} has too many hands: tables over them would have {entries:,} entries, more than {MOST_ENTRIES:,}; "
            "make it smaller"
        )
