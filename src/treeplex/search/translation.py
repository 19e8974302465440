"""Action translation: a game with many bet sizes played by a policy, or an agent, of one with few.

An agent that knows bets of half the pot and of the pot has to answer a bet of 0.7 pots as if it were one of them. The
*pseudo-harmonic* mapping takes a bet of x pots between sizes A < B as A with probability

    f(x) = (B - x) (1 + A) / ((B - A) (1 + x)),

drawn at random, or as the likelier one, which is A up to x = (A + B + 2 A B) / (A + B + 2). To check or call is a size of 0.
Source: Ganzfried and Sandholm (2013), "Action translation in extensive-form games with large action spaces: axioms, paradoxes,
and the pseudo-harmonic mapping".

The coarse game goes on beside the real one, *heard* as the mapping says. Where its betting has ended, since a small bet counted
as a call or a large one as all-in, and the real one goes on, the agent checks and calls.
"""

from collections.abc import Callable, Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from treeplex.errors import GameError, SpecError
from treeplex.evaluate.match.agents import Agent, Seat, Thought, fork
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, uniform_probabilities
from treeplex.forms.subgames.beliefs import Belief
from treeplex.forms.subgames.policy_tables import sequences_at, table_at
from treeplex.forms.subgames.public_rules import public_rules
from treeplex.games.base import CHANCE, TERMINAL
from treeplex.games.public import Bets, PublicGame, PublicState, PublicTree, State, pair_state, pick
from treeplex.search.action_subset import ActionSubset
from treeplex.spec import nearest

Floats = NDArray[np.float64]
MAPPINGS = ("random", "likelier")
"""How a bet between two sizes is heard: as one of them at random, or as the likelier one."""
TRANSLATE, RESOLVE = OFF_TREE = ("translate", "resolve")
"""What is done about a bet that is not in an agent's own game: it is heard as one that is, or added and solved."""
SAME = 1e-9
"""Sizes that differ by less, in pots, are one."""


def pseudo_harmonic(size: float, sizes: Floats, mapping: str = "random") -> Floats:
    """How likely a bet is heard as each of some sizes, float64 [S].

    Args:
        size: the bet, in pots.
        sizes: ascending, at least one; 0 is to check or call.
        mapping: one of :data:`MAPPINGS`.
    """
    found = np.zeros(len(sizes))
    above = int(np.searchsorted(sizes, size - SAME))
    if above == len(sizes) or above == 0 or sizes[above] <= size + SAME:
        found[min(above, len(sizes) - 1)] = 1.0
        return found
    low, high = sizes[above - 1 : above + 1]
    lower = (high - size) * (1 + low) / ((high - low) * (1 + size))
    if mapping == "likelier":
        lower = float(lower >= 0.5)
    found[above - 1 : above + 1] = lower, 1.0 - lower
    return found


def heard(real: Bets, action: int, coarse: Bets, mapping: str) -> Floats:
    """How likely an action of the real game is heard as each one of the coarse game, float64 [coarse actions]."""
    kind, found = real.kinds[action], np.zeros(len(coarse.kinds))
    if kind == "fold" and "fold" in coarse.kinds:
        found[coarse.kinds.index("fold")] = 1.0
        return found
    open_to = [number for number, each in enumerate(coarse.kinds) if each != "fold"]
    found[open_to] = pseudo_harmonic(float(real.sizes[action]), coarse.sizes[open_to], mapping)
    return found


def spoken(coarse: Bets, real: Bets) -> list[int]:
    """Which action of the real game plays each one of the coarse game: of bets the nearest by the mapping, [coarse actions].

    Where nothing can be bet any more, a bet is a call; who cannot fold checks.
    """
    passing = real.kinds.index("pass")
    raised = [number for number, kind in enumerate(real.kinds) if kind == "bet"]
    played = []
    for kind, size in zip(coarse.kinds, coarse.sizes, strict=True):
        if kind == "fold":
            played.append(real.kinds.index("fold") if "fold" in real.kinds else passing)
        elif kind == "pass" or not raised:
            played.append(passing)
        else:
            played.append(raised[int(pseudo_harmonic(float(size), real.sizes[raised], "likelier").argmax())])
    return played


def bets_at(game: PublicGame, state: State) -> Bets:
    """The actions at a state where somebody acts, as bets.

    Raises:
        GameError: a game without bets.
    """
    found = game.bets(state)
    if found is None:
        raise GameError(f"actions at {game.name_of(state)} are no bets, so they cannot be translated; take a game of poker")
    return found


def check_known(what: str, value: str, known: Sequence[str]) -> None:
    """Raise a :class:`SpecError` for an unknown word."""
    if value not in known:
        raise SpecError(f"unknown {what} {value!r}{nearest(value, known)}")


def check_hands(real: PublicGame, coarse: PublicGame) -> None:
    """Raise a :class:`GameError` unless players hold the same hands in both games."""
    widths = [tuple(len(own) for own in game.possible(game.first_state())) for game in (real, coarse)]
    if widths[0] != widths[1]:
        raise GameError(f"players have {widths[0]} hands in the real game and {widths[1]} in the coarse one; give one deck")


class TranslatedAgent(Seat):
    """An agent of a coarse game at the table of the real one.

    Attributes:
        game, state: the real game; see :class:`treeplex.evaluate.match.agents.Agent`.
        inner: the agent of the coarse game.
        mapping: one of :data:`MAPPINGS`.
    """

    def __init__(
        self,
        game: PublicGame,
        inner: Agent,
        generator: np.random.Generator | None = None,
        *,
        mapping: str = "random",
        off_tree: str = TRANSLATE,
    ) -> None:
        """Sit down.

        Args:
            game: the real game.
            inner: an agent of the coarse game, with the same hands and cards.
            generator: of its draws.
            mapping: how bets are heard.
            off_tree: one of :data:`OFF_TREE`. An agent that searches can ``resolve``: bets that it does not know are added to
                its game, and heard as others only where that cannot be done.

        Raises:
            GameError: other hands.
            SpecError: an unknown word, or an agent that cannot resolve.
        """
        super().__init__(game, generator)
        check_known("mapping", mapping, MAPPINGS)
        check_known("off_tree", off_tree, OFF_TREE)
        check_hands(game, inner.game)
        self.add: Callable[[float], int] | None = getattr(inner, "add", None) if off_tree == RESOLVE else None
        if off_tree == RESOLVE and self.add is None:
            raise SpecError(f"a {type(inner).__name__} does not search, so it cannot solve new bets; give off_tree=translate")
        self.inner, self.mapping = inner, mapping
        self.draws = True if mapping == "random" else getattr(inner, "draws", None)
        self._meant: tuple[int, int] | None = None
        self.begin()

    @property
    def thought(self) -> Thought | None:  # type: ignore[override]
        """What the agent of the coarse game says of its thinking."""
        return getattr(self.inner, "thought", None)

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.evaluate.match.agents.Agent.begin`; it plays from the beginning only.

        Raises:
            GameError: another beginning.
        """
        if at is not None:
            raise GameError("an agent that translates plays from the beginning of its own game only")
        self.sit(seat, generator)
        self.state, self._meant = self.game.first_state(), None
        self.inner.begin(seat, np.random.default_rng(self.generator.integers(2**63)))

    def fork(self) -> "TranslatedAgent":
        """See :meth:`treeplex.evaluate.match.agents.Seat.fork`."""
        found = super().fork()
        found.inner = fork(self.inner)
        found.add = None if self.add is None else getattr(found.inner, "add", None)
        return found

    def see(self, event: int) -> None:
        """See :meth:`treeplex.evaluate.match.agents.Agent.see`."""
        options, following = self.game.options(self.state), self.game.after(self.state, event)
        inner = self.inner.game.options(self.inner.state)
        if options.player == CHANCE:
            while inner.player >= 0:  # the coarse betting is not over: both check or call
                self.inner.see(inner.labels[bets_at(self.inner.game, self.inner.state).kinds.index("pass")])
                inner = self.inner.game.options(self.inner.state)
            if inner.player == CHANCE:
                self.inner.see(event)
        elif inner.player == options.player:
            self.inner.see(self._heard(list(options.labels).index(event), event))
        self.state, self._meant = following, None

    def _heard(self, action: int, label: int) -> int:
        """The label of the coarse game that an action is heard as."""
        labels = self.inner.game.options(self.inner.state).labels
        if self._meant is not None and self._meant[0] == label:
            return self._meant[1]
        real, coarse = bets_at(self.game, self.state), bets_at(self.inner.game, self.inner.state)
        player = self.game.options(self.state).player
        if self.add is not None and player != self.player and np.abs(coarse.chips - real.chips[action]).min() > SAME * real.pot:
            try:
                return self.add(label if isinstance(self.inner.game, ActionSubset) else float(real.chips[action]))
            except GameError:  # its betting has gone another way, and has no such bet
                pass
        shares = heard(real, action, coarse, self.mapping)
        if self.player in (None, player):
            meant = np.array([number == action for number in spoken(coarse, real)], np.float64)
            shares = meant if meant.any() else shares
        return int(labels[pick(self.generator, shares)])

    def policy(self) -> Floats:
        """See :meth:`treeplex.evaluate.match.agents.Agent.policy`."""
        self.check_acting()
        options = self.game.options(self.state)
        real = bets_at(self.game, self.state)
        found = np.zeros((len(options.labels), len(self.game.possible(self.state)[options.player])))
        if self.inner.game.options(self.inner.state).player != options.player:
            found[real.kinds.index("pass")] = 1.0
            return found
        coarse = bets_at(self.inner.game, self.inner.state)
        np.add.at(found, spoken(coarse, real), self.inner.policy())
        return found

    def act(self, hand: int) -> int:
        """See :meth:`treeplex.evaluate.match.agents.Agent.act`."""
        label = super().act(hand)
        if self.inner.game.options(self.inner.state).player == self.game.options(self.state).player:
            labels, inner = self.game.options(self.state).labels, self.inner.game.options(self.inner.state).labels
            played = spoken(bets_at(self.inner.game, self.inner.state), bets_at(self.game, self.state))
            weights = self.inner.policy()[:, hand] * [labels[number] == label for number in played]
            self._meant = label, int(inner[pick(self.generator, weights)])
        return label


class Hearing:
    """What one player has heard so far in the coarse game: states there, each with how likely each of its hands came to it.

    Attributes:
        states: public states of the coarse game.
        weights: for each of them float64 [H].
    """

    def __init__(self, states: list[PublicState], weights: list[Floats]) -> None:
        self.states, self.weights = states, weights

    @classmethod
    def of(cls, pairs: "list[tuple[PublicState, Floats]]") -> "Hearing":
        """From pairs, of which those at one node are added up; those that never happen are left out while others do."""
        merged: dict[Hashable, tuple[PublicState, Floats]] = {}
        for state, weight in pairs:
            known = merged.get(state.node)
            merged[state.node] = state, weight if known is None else known[1] + weight
        kept = [pair for pair in merged.values() if pair[1].any()] or list(merged.values())[:1]
        return cls([state for state, _ in kept], [weight for _, weight in kept])


class Translation:
    """A policy of a coarse game as one of the real game, exactly; see :func:`translated_policy`."""

    def __init__(self, real: PublicTree, coarse: PublicTree, policy: Policy, mapping: str) -> None:
        check_known("mapping", mapping, MAPPINGS)
        check_hands(real, coarse)
        self.real, self.coarse, self.policy, self.mapping = real, coarse, policy, mapping
        self._tables: dict[Hashable, Floats] = {}
        self._after: dict[tuple[Hashable, int], PublicState] = {}

    def after(self, state: PublicState, label: int) -> PublicState:
        """What follows in the coarse game."""
        key = state.node, label
        if key not in self._after:
            self._after[key] = self.coarse.after(state, label)
        return self._after[key]

    def table(self, state: PublicState) -> Floats:
        """The coarse policy at a state, float64 [A, H]."""
        if state.node not in self._tables:
            self._tables[state.node] = table_at(self.policy, self.coarse, state)
        return self._tables[state.node]

    def dealt(self, hearing: Hearing, label: int) -> Hearing:
        """After a card."""
        pairs = []
        for state, weight in zip(hearing.states, hearing.weights, strict=True):
            while (options := self.coarse.options(state)).player >= 0:
                state = self.after(state, options.labels[bets_at(self.coarse, state).kinds.index("pass")])
            pairs.append((state if options.player == TERMINAL else self.after(state, label), weight))
        return Hearing.of(pairs)

    def heard(self, hearing: Hearing, state: PublicState, action: int) -> Hearing:
        """After an action of the other player in the real game."""
        player, pairs = self.real.options(state).player, []
        for there, weight in zip(hearing.states, hearing.weights, strict=True):
            options = self.coarse.options(there)
            if options.player != player:
                pairs.append((there, weight))
                continue
            shares = heard(bets_at(self.real, state), action, bets_at(self.coarse, there), self.mapping)
            heard_as = zip(options.labels, shares, strict=True)
            pairs += [(self.after(there, label), weight * share) for label, share in heard_as if share]
        return Hearing.of(pairs)

    def played(self, hearing: Hearing, state: PublicState) -> tuple[Floats, list[Hearing]]:
        """What the player to act in the real game does, float64 [A, H], and what it has in mind after each action."""
        options, real = self.real.options(state), bets_at(self.real, state)
        found = np.zeros((len(options.labels), len(hearing.weights[0])))
        even = np.zeros_like(found)
        pairs: list[list[tuple[PublicState, Floats]]] = [[] for _ in options.labels]
        for there, weight in zip(hearing.states, hearing.weights, strict=True):
            inner = self.coarse.options(there)
            if inner.player != options.player:
                found[real.kinds.index("pass")] += weight
                even[real.kinds.index("pass")] += 1.0
                for own in pairs:
                    own.append((there, weight))
                continue
            coarse, table = bets_at(self.coarse, there), self.table(there)
            meant = spoken(coarse, real)
            np.add.at(found, meant, weight * table)
            np.add.at(even, meant, table)
            for action, own in enumerate(pairs):
                for number, label in enumerate(inner.labels):
                    if meant[number] == action:
                        own.append((self.after(there, label), weight * table[number]))
                if action not in meant:
                    likeliest = int(heard(real, action, coarse, "likelier").argmax())
                    own.append((self.after(there, inner.labels[likeliest]), np.zeros_like(weight)))
        total = found.sum(axis=0)
        shares = np.where(total > 0, found / np.where(total > 0, total, 1.0), even / even.sum(axis=0))
        return shares, [Hearing.of(own) for own in pairs]


def translated_policy(
    game: CompiledGame, policy: Policy, coarse: PublicTree, *, mapping: str = "random", rules: PublicTree | None = None
) -> Policy:
    """What a policy of a coarse game plays in the real one, by translation: exactly, whatever is drawn.

    Args:
        game: the real game, compiled.
        policy: of the coarse game.
        coarse: the public-tree rules of the coarse game, with the same hands and cards.
        mapping: how bets are heard, one of :data:`MAPPINGS`.
        rules: the public-tree rules of the real game; None for those that it brings.

    Raises:
        GameError: a game without bets, or other hands.
        PolicyError: a policy of another game.
        SpecError: an unknown mapping.
    """
    if rules is None:
        if game.rules is None:
            raise GameError(f"{game} was loaded without rules, which translation needs; give the game by its spec")
        rules = public_rules(game.rules)
    both, found = Translation(rules, coarse, policy, mapping), uniform_probabilities(game)
    first = coarse.first_state()
    begun = tuple(Hearing([first], [np.ones(size)]) for size in first.weight.shape)
    stack = [(rules.first_state(), begun)]
    while stack:
        state, hearings = stack.pop()
        options = rules.options(state)
        if options.player == TERMINAL or not state.weight.any():
            continue
        if options.player == CHANCE:
            stack.extend(
                (pair_state(rules.after(state, label)), tuple(both.dealt(own, label) for own in hearings))
                for label in options.labels
            )
            continue
        table, after = both.played(hearings[options.player], state)
        for hand, sequences in sequences_at(game, rules, state).items():
            found[sequences] = table[:, hand]
        for action, label in enumerate(options.labels):
            other = both.heard(hearings[1 - options.player], state, action)
            own = (after[action], other) if options.player == 0 else (other, after[action])
            stack.append((pair_state(rules.after(state, label)), own))
    return Policy(game, found)
