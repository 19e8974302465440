"""Action translation for agents: lets an agent of a coarse game play a game with more bet sizes.

See :mod:`treeplex.search.translation.mapping`. Several coarse bets may map to the same real bet, so that the hand has several
possible coarse histories. The agent follows all of them: its policy is the mean over these histories, weighted for every hand
by the probability of the agent's own actions in each. So the policy depends only on public information, not on the hand held,
as in :func:`treeplex.search.translation.exact.translated_policy`.
"""

from typing import NamedTuple

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.errors import GameError, SpecError
from treeplex.games.base import CHANCE, Game
from treeplex.games.public import PublicGame, pick
from treeplex.search.action_subset import ActionAbstraction
from treeplex.search.agents.agent import Agent, BaseAgent, Thought, fork
from treeplex.search.resolving.continuations import BlueprintLeaf
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.translation.mapping import (
    MAPPINGS,
    SAME,
    bets_at,
    check_hands,
    check_known,
    real_actions,
    translation_shares,
)

TRANSLATE, RESOLVE = OFF_TREE = ("translate", "resolve")
"""How a bet outside an agent's game is handled: translated, or added and solved."""


def follows_blueprint(agent: Agent) -> bool:
    """Whether an agent needs a blueprint, either before it searches or below the leaves of its searches."""
    leaves = getattr(agent, "leaves", ())
    return getattr(agent, "blueprint", None) is not None or any(isinstance(leaf, BlueprintLeaf) for leaf in leaves)


class Way(NamedTuple):
    """A possible history of the hand in the coarse game.

    Attributes:
        agent: the agent of the coarse game after this history.
        reached: float64 [H_i] for each player, the probability of the agent's own actions in this history with each hand, up to
            a factor common to all histories.
    """

    agent: Agent
    reached: tuple[Floats, ...]


class TranslatedAgent(BaseAgent):
    """Lets an agent of a coarse game play the real game.

    Attributes:
        game, state: the real game; see :class:`treeplex.search.agents.agent.Agent`.
        inner: the agent of the coarse game, on the first history.
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
        """Create the agent for the real game.

        Args:
            game: the real game: its public states, a spec or rules.
            inner: an agent of the coarse game, with the same hands and cards.
            generator: random generator for its draws.
            mapping: how bets are translated.
            off_tree: one of :data:`OFF_TREE`. With ``resolve``, for agents that search, off-tree bets are added to the coarse
                game, and translated only if this is impossible.

        Raises:
            GameError: the games have different hands.
            SpecError: an unknown ``mapping`` or ``off_tree``, or an agent that does not support ``resolve``.
        """
        super().__init__(game, generator)
        check_known("mapping", mapping, MAPPINGS)
        check_known("off_tree", off_tree, OFF_TREE)
        check_hands(self.game, inner.game)
        self._resolves = off_tree == RESOLVE
        if self._resolves and getattr(inner, "add", None) is None:
            raise SpecError(f"a {type(inner).__name__} does not search and cannot solve new bets; give off_tree=translate")
        if self._resolves and follows_blueprint(inner):
            raise SpecError(
                "the agent's blueprint lacks bets added during play; create the agent for the real game, or give "
                "off_tree=translate"
            )
        self._coarse, self.mapping = inner, mapping
        self.draws = True if mapping == "random" else getattr(inner, "draws", None)
        self.begin()

    @property
    def inner(self) -> Agent:
        return self._ways[0].agent

    @property
    def thought(self) -> Thought | None:  # type: ignore[override]
        """The coarse agent's last search."""
        return getattr(self.inner, "thought", None)

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.begin`; the agent must start at the beginning of the game.

        Raises:
            GameError: ``at`` is another state.
        """
        if at is not None:
            raise GameError("an agent that translates plays only from the beginning of its own game; leave out 'at'")
        self.sit(seat, generator)
        self.state = self.game.first_state()
        self._coarse.begin(seat, np.random.default_rng(self.generator.integers(2**63)))
        self._ways = [Way(self._coarse, tuple(np.ones_like(hands) for hands in self.game.possible(self.state)))]

    def fork(self) -> "TranslatedAgent":
        """See :meth:`treeplex.search.agents.agent.BaseAgent.fork`."""
        copied = super().fork()
        copied._ways = [way._replace(agent=fork(way.agent)) for way in self._ways]
        copied._coarse = copied.inner
        return copied

    def see(self, event: int) -> None:
        """See :meth:`treeplex.search.agents.agent.Agent.see`."""
        options, following = self.game.options(self.state), self.game.after(self.state, event)
        if options.player == CHANCE:
            for way in self._ways:
                self._dealt(way.agent, event)
        else:
            number = list(options.labels).index(event)
            after = [next_way for way in self._ways for next_way in self._after(way, options.player, number, event)]
            taken = [way for way in after if way.reached[options.player].any()]
            self._ways = taken or [after[0]._replace(reached=self._ways[0].reached)]
        self.state = following

    def _dealt(self, agent: Agent, card: int) -> None:
        """Deal a card in the coarse game."""
        inner = agent.game.options(agent.state)
        while inner.player >= 0:  # the coarse betting round is not over, so both check or call
            agent.see(inner.labels[bets_at(agent.game, agent.state).kinds.index("pass")])
            inner = agent.game.options(agent.state)
        if inner.player == CHANCE:
            agent.see(card)

    def _after(self, way: Way, player: int, action: int, label: int) -> list[Way]:
        """Return the coarse histories after a real action; several if the agent's own action may stand for several coarse ones.

        Args:
            way: the coarse history so far.
            player: the player who acts.
            action, label: the index of the action, and its label.
        """
        agent, acts = way.agent, self.player in (None, player)
        inner, real = agent.game.options(agent.state), bets_at(self.game, self.state)
        if inner.player != player:  # the coarse betting round is over, so the agent checks and calls
            passed = not acts or action == real.kinds.index("pass")
            return [way if passed else self._moved(way, player, 0.0)]
        coarse = bets_at(agent.game, agent.state)
        if self._resolves and player != self.player and np.abs(coarse.chips - real.chips[action]).min() > SAME * real.pot:
            try:
                agent.see(agent.add(label if isinstance(agent.game, ActionAbstraction) else float(real.chips[action])))  # type: ignore[attr-defined]
                return [way]
            except GameError:  # the coarse betting differs and has no such bet
                pass
        meant = [number for number, played in enumerate(real_actions(coarse, real)) if played == action] if acts else []
        if not meant:
            number = pick(self.generator, translation_shares(real, action, coarse, self.mapping))
            agent.see(inner.labels[number])
            return [self._moved(way, player, 0.0) if acts else way]
        table = agent.policy() if len(meant) > 1 or len(self._ways) > 1 else np.ones((len(inner.labels), 1))
        agents = [agent, *(fork(agent) for _ in meant[1:])]
        for copy, number in zip(agents, meant, strict=True):
            copy.see(inner.labels[number])
        return [self._moved(way._replace(agent=copy), player, table[k]) for copy, k in zip(agents, meant, strict=True)]

    @staticmethod
    def _moved(way: Way, player: int, played: Floats | float) -> Way:
        """Return the history after the agent's own action, with reach updated by each hand's probability of the action."""
        return way._replace(
            reached=tuple(reach * played if seat == player else reach for seat, reach in enumerate(way.reached))
        )

    def policy(self) -> Floats:
        """See :meth:`treeplex.search.agents.agent.Agent.policy`."""
        self.check_acting()
        player = self.game.options(self.state).player
        tables = [self._policy_on(way.agent, player) for way in self._ways]
        if len(tables) == 1:
            return tables[0]
        reached = np.stack([way.reached[player] for way in self._ways])
        weights = np.where(reached.any(axis=0), reached, 1.0)  # hands with zero reach weight all histories equally
        return np.asarray(np.einsum("wh,wah->ah", weights / weights.sum(axis=0), np.stack(tables)))

    def _policy_on(self, agent: Agent, player: int) -> Floats:
        """The agent's policy in the real game given the coarse history, float64 [A, H]."""
        options, real = self.game.options(self.state), bets_at(self.game, self.state)
        policy = np.zeros((len(options.labels), len(self.game.possible(self.state)[player])))
        if agent.game.options(agent.state).player != player:
            policy[real.kinds.index("pass")] = 1.0
            return policy
        np.add.at(policy, real_actions(bets_at(agent.game, agent.state), real), agent.policy())
        return policy
