"""An agent of a game with few bets at the table of one with many; see :mod:`treeplex.search.translation.mapping`."""

from collections.abc import Callable

import numpy as np

from treeplex.arrays import Floats
from treeplex.errors import GameError, SpecError
from treeplex.evaluate.match.agents import Agent, Seat, Thought, fork
from treeplex.forms.subgames.beliefs import Belief
from treeplex.games.base import CHANCE, Game
from treeplex.games.public import PublicGame, pick
from treeplex.search.action_subset import ActionSubset
from treeplex.search.resolving.continuations import BlueprintLeaf
from treeplex.search.translation.mapping import MAPPINGS, SAME, bets_at, check_hands, check_known, heard, spoken

TRANSLATE, RESOLVE = OFF_TREE = ("translate", "resolve")
"""What is done about a bet that is not in an agent's own game: it is heard as one that is, or added and solved."""


def follows_blueprint(agent: Agent) -> bool:
    """Whether an agent needs a blueprint wherever it comes, before it searches or behind the leaves of its searches."""
    leaves = getattr(agent, "leaves", ())
    return getattr(agent, "blueprint", None) is not None or any(isinstance(leaf, BlueprintLeaf) for leaf in leaves)


class TranslatedAgent(Seat):
    """An agent of a coarse game at the table of the real one.

    Attributes:
        game, state: the real game; see :class:`treeplex.evaluate.match.agents.Agent`.
        inner: the agent of the coarse game.
        mapping: one of :data:`MAPPINGS`.
    """

    def __init__(
        self,
        game: PublicGame | str | Game,
        inner: Agent,
        generator: np.random.Generator | None = None,
        *,
        mapping: str = "random",
        off_tree: str = TRANSLATE,
    ) -> None:
        """Sit down.

        Args:
            game: the real game: its public states, a spec or rules.
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
        check_hands(self.game, inner.game)
        self.add: Callable[[float], int] | None = getattr(inner, "add", None) if off_tree == RESOLVE else None
        if off_tree == RESOLVE and self.add is None:
            raise SpecError(f"a {type(inner).__name__} does not search, so it cannot solve new bets; give off_tree=translate")
        if off_tree == RESOLVE and follows_blueprint(inner):
            raise SpecError("a blueprint does not know new bets; let the agent play the game with all bets, and translate it")
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
