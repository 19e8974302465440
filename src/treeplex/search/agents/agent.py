"""The agent protocol for policies, searches, people and programs, and base classes."""

from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.notices import reporting, tell
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import GameError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, normalised, uniform_probabilities
from treeplex.forms.sources.load import public_game
from treeplex.games.base import CHANCE, TERMINAL, Game, on_one_line
from treeplex.games.public import PublicGame, State, pick
from treeplex.search.agents.explanation import Explanation
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.subgames.policy_tables import sequences_at, table_at

PLAYS = 32
"""Draws of an agent that draws at random while it plays, where its policy is asked for."""
Watch = Callable[[int, int, int], None]
"""Called with what is done, what there is to do, and the subgames solved so far."""


class Thought(NamedTuple):
    """The search behind an agent's last policy.

    Attributes:
        iterations: of the search; 0 where it remembered one.
        seconds: of the wall clock.
        subgames: how many it solved.
        boards: of hold'em with continuations of a blueprint, complete boards looked at behind each leaf; 0 for none.
    """

    iterations: int
    seconds: float
    subgames: int = 1
    boards: int = 0


class Agent(Protocol):
    """Plays one seat of a public game, or all of them; hands are told only where it is to act.

    Attributes:
        game: what it plays; labels of events are this game's. It may change within a play, when an action is added or the rest
            goes on as a game of its own, and is the first again with :meth:`begin`.
        state: where the play stands.
    """

    game: PublicGame
    state: State

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """Begin a new play.

        Args:
            seat: the player it is; None for all.
            generator: of its draws; None for the one it has.
            at: where the play begins, perhaps in another game; None for the beginning of its own.
        """

    def see(self, event: int) -> None:
        """An action was played, its own ones included, or chance showed something; of a private action, any of them.

        Raises:
            GameError: nothing with this label can happen here.
        """

    def policy(self) -> Floats:
        """The policy for **every** hand, float64 [A, H]; uniform for impossible hands.

        Raises:
            GameError: no player is to act.
        """
        ...

    def act(self, hand: int) -> int:
        """The label of an action drawn from :meth:`policy` for a hand; it must be seen as well.

        Raises:
            GameError: no player is to act, or the hand cannot be held here.
        """
        ...


class BaseAgent:
    """Base class of agents: follows the public state and draws actions from its policy.

    Attributes:
        game, state: see :class:`Agent`.
        player: the seat; None for all.
        generator: of its draws.
        think: seconds that it may take for a decision; None for as long as its search needs.
        thought: how it came to its last policy, a new one for each search; None if it does not search.
        draws: whether it draws at random while it plays, so that its policy is another one each time; None if unknown.
        about: what to know of it, in a line; empty where its name says all.
    """

    think: float | None = None
    thought: Thought | None = None
    draws: bool | None = None
    about: str = ""

    def __init__(self, game: PublicGame | str | Game, generator: np.random.Generator | None = None) -> None:
        """Sit down at a game: its public states, or a spec or rules. Agents that are to meet need the same object."""
        self.game: PublicGame = public_game(game)
        self.state = self.game.first_state()
        self.player: int | None = None
        self.generator = generator or np.random.default_rng()

    def policy(self) -> Floats:
        """See :meth:`Agent.policy`."""
        raise NotImplementedError

    def __repr__(self) -> str:
        player = self.game.options(self.state).player
        who = {TERMINAL: "over", CHANCE: "chance to act"}.get(player, f"player {player} to act")
        return on_one_line(f"<{type(self).__name__} for {self.game.title}: {who} at {self.game.name_of(self.state)}>")

    def public_belief_state(self) -> Belief | None:
        """The agent's current public belief state; None if it keeps no beliefs."""
        return None

    def hand_values(self) -> Floats | None:
        """Value of each action with each hand of the player to act, float64 [A, H]; None if unknown.

        See :class:`treeplex.search.agents.explanation.Explanation`.
        """
        return None

    def search_effort(self) -> Thought | None:
        """The cost of the search behind the policy here, cached or not; None without search."""
        return self.thought

    def explain(self) -> Explanation:
        """The agent's beliefs, policy and values here, by hand; searches first if necessary.

        Raises:
            GameError: no player is to act.
        """
        policy, state = self.policy(), self.state
        options, belief, effort = self.game.options(state), self.public_belief_state(), self.search_effort()
        possible = self.game.possible(state)
        return Explanation(
            agent=type(self).__name__,
            state=self.game.name_of(state),
            player=options.player,
            hands=tuple(
                tuple(self.game.hand_name(state, player, hand) if can[hand] else str(hand) for hand in range(len(can)))
                for player, can in enumerate(possible)
            ),
            actions=tuple(self.game.action_name(state, label) for label in options.labels),
            policy=policy,
            possible=possible[options.player] > 0,
            beliefs=None if belief is None else belief.beliefs,
            values=self.hand_values(),
            iterations=None if effort is None else effort.iterations,
            seconds=None if effort is None else effort.seconds,
        )

    @property
    def over(self) -> bool:
        """Whether the play has ended."""
        return self.game.options(self.state).player == TERMINAL

    def sit(self, seat: int | None, generator: np.random.Generator | None) -> None:
        """Take a seat."""
        if seat is not None and not 0 <= seat < self.game.players:
            raise GameError(f"seat {seat} of a game of {self.game.players}; give 0 to {self.game.players - 1}")
        self.player, self.generator = seat, generator or self.generator

    def sit_at_first(self, seat: int | None, generator: np.random.Generator | None, at: Belief | None) -> None:
        """Take a seat where a play begins, of an agent that has to see all of it.

        Raises:
            GameError: to begin within a play.
        """
        if at is not None and at.state != self.game.first_state():
            raise GameError("the agent plays whole hands: it has to see every bet")
        self.sit(seat, generator)

    def fork(self) -> Self:
        """A copy that goes on by itself from here, its draws alike; what is remembered of solved subgames may be shared.

        What changes in a play must be assigned anew in :meth:`Agent.see`, not changed in place; a class that does otherwise
        copies it here.
        """
        found = copy(self)
        found.generator = deepcopy(self.generator)
        return found

    def check_acting(self) -> None:
        """Raise a :class:`GameError` where no player is to act."""
        if self.game.options(self.state).player < 0:
            raise GameError(f"nobody is to act at {self.game.name_of(self.state)}")

    def act(self, hand: int) -> int:
        """See :meth:`Agent.act`."""
        self.check_acting()
        options = self.game.options(self.state)
        possible = self.game.possible(self.state)[options.player]
        if not 0 <= hand < len(possible) or not possible[hand]:
            raise GameError(f"hand {hand} cannot be there at {self.game.name_of(self.state)}")
        return options.labels[pick(self.generator, self.policy()[:, hand])]


def fork(agent: Agent) -> Agent:
    """A copy of an agent that goes on by itself from where it stands: by :meth:`BaseAgent.fork`, or a deep copy."""
    return agent.fork() if isinstance(agent, BaseAgent) else deepcopy(agent, {id(agent.game): agent.game})


class TableAgent(BaseAgent):
    """Plays a policy table."""

    draws = False

    def __init__(self, rules: PublicGame | str | Game, table: Policy, generator: np.random.Generator | None = None) -> None:
        """Sit down.

        Args:
            rules: the public states of the table's game, for any number of players, or its spec or rules.
            table: the policy.
            generator: of its draws.
        """
        super().__init__(rules, generator)
        self.rules, self.table = self.game, table
        self._at: Belief | None = None
        self._path: tuple[int, ...] = ()

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`Agent.begin`."""
        if at is not None and at.game is not self.rules:
            raise GameError("a policy table plays its own game only")
        self.sit(seat, generator)
        self.state = self.rules.first_state() if at is None else at.state
        self._at, self._path = at, ()

    def see(self, event: int) -> None:
        """See :meth:`Agent.see`."""
        self.state = self.rules.after(self.state, event)
        self._path = (*self._path, event)

    def public_belief_state(self) -> Belief:
        """The public belief state if all players follow the policy table."""
        belief = Belief.root(self.rules) if self._at is None else self._at
        for label in self._path:
            acts = self.rules.options(belief.state).player >= 0
            belief = belief.after(label, table_at(self.table, self.rules, belief.state) if acts else None)
        return belief

    def policy(self) -> Floats:
        """See :meth:`Agent.policy`."""
        self.check_acting()
        return table_at(self.table, self.rules, self.state)


class UniformAgent(BaseAgent):
    """Plays all actions of any game alike."""

    draws = False

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`Agent.begin`."""
        self.sit(seat, generator)
        self.game, self.state = (self._whole, self._whole.first_state()) if at is None else (at.game, at.state)

    def __init__(self, game: PublicGame, generator: np.random.Generator | None = None) -> None:
        """Sit down at a game."""
        super().__init__(game, generator)
        self._whole = game

    def see(self, event: int) -> None:
        """See :meth:`Agent.see`."""
        self.state = self.game.after(self.state, event)

    def policy(self) -> Floats:
        """See :meth:`Agent.policy`."""
        self.check_acting()
        options = self.game.options(self.state)
        hands = len(self.game.possible(self.state)[options.player])
        return np.full((len(options.labels), hands), 1.0 / len(options.labels))


def play_game(
    agents: Sequence[Agent], generator: np.random.Generator, *, hands: Sequence[int] | None = None
) -> tuple[float, ...]:
    """One play of a game among agents that play the same one.

    Args:
        agents: the agent in each seat; one may sit in several.
        generator: deals, and seeds the agents.
        hands: a hand of each player; None to deal them.

    Returns:
        The payoff of each player.

    Raises:
        GameError: agents of different games.
    """
    game = agents[0].game
    for seat, agent in enumerate(agents):
        if agent not in agents[:seat]:
            agent.begin(None if list(agents).count(agent) > 1 else seat, np.random.default_rng(generator.integers(2**63)))
    game, state = agents[0].game, agents[0].state
    if any(agent.game is not game for agent in agents):
        raise GameError("agents that play different games cannot meet")
    held = list(Belief.root(game).draw(generator) if hands is None else hands)
    while (options := game.options(state)).player != TERMINAL:
        if options.player == CHANCE:
            label = options.labels[pick(generator, game.chances(state, held))]
        else:
            label = agents[options.player].act(held[options.player])
            if options.private:
                held[options.player] = held[options.player] * len(options.labels) + list(options.labels).index(label)
                label = options.labels[0]
        for seat, agent in enumerate(agents):
            if agent not in agents[:seat]:
                agent.see(label)
        state = game.after(state, label)
    return game.payoffs(state, held)


def agent_policy(
    agent: Agent,
    game: CompiledGame | str | Game | Any,
    *,
    plays: int | None = None,
    seed: int = 0,
    watch: Watch | None = None,
    progress: bool | None = None,
) -> Policy:
    """What an agent plays at every infoset of a small game, as a policy that can be judged.

    A new play is begun for every public history, and the agent asked for all hands there. An agent that draws at random while
    it plays, as a :class:`treeplex.search.agents.searching.SearchAgent` does, draws alike along histories that begin alike.
    Its policy is the mean over ``plays`` draws, weighted by own reach; the more there are, the closer it comes to the agent.

    Args:
        agent: an agent of a game whose infosets have strings.
        game: the same game: a spec, rules or compiled.
        plays: how often everything is drawn; None for :data:`PLAYS` for agents that :attr:`draw <BaseAgent.draws>`, else once.
        seed: of the draws.
        watch: called after each public history with the number done, that of all, and the subgames solved so far.
        progress: False shows none; None shows it where a person looks, see :func:`treeplex.solve`.

    Raises:
        GameError: infosets of the agent's game are never enumerated.
    """
    game = compile_game(game, progress=progress)
    count = (PLAYS if getattr(agent, "draws", False) else 1) if plays is None else plays
    with reporting(progress, "asking the agent how it plays"):
        return drawn_policy(agent, game, count, seed, watch)


def drawn_policy(agent: Agent, game: CompiledGame, count: int, seed: int, watch: Watch | None) -> Policy:
    """The mean of ``count`` draws of what an agent plays; see :func:`agent_policy`."""
    weights, strategy = np.zeros((2, len(uniform_probabilities(game))))
    done = subgames = total = 0
    last: Thought | None = None
    for play in range(count):
        once, waiting = uniform_probabilities(game), [tuple[int, ...]()]
        while waiting:  # depth first: who remembers subgames finds those on the way again
            path = waiting.pop()
            agent.begin(None, np.random.default_rng((seed, play)))
            rules = agent.game
            if not isinstance(rules, PublicGame):
                raise GameError(f"an agent of {type(rules).__name__} has no policy table; it must play a public game")
            for label in path:
                agent.see(label)
            options = rules.options(agent.state)
            if options.player >= 0:
                table = agent.policy()
                for hand, sequences in sequences_at(game, rules, agent.state).items():
                    once[sequences] = table[:, hand]
            thought = getattr(agent, "thought", None)
            subgames += thought.subgames if thought is not None and thought is not last else 0
            last, done, total = thought, done + 1, total or count * histories_in(rules)
            if watch is not None:
                watch(done, total, subgames)
            else:
                draw = f"draw {play + 1} of {count}  " if count > 1 else ""
                solved = f"  {subgames:,} subgames solved" if subgames else ""
                tell(f"asking the agent  {draw}{done:,}/{total:,} public histories{solved}")
            waiting += [(*path, label) for label in (options.labels[:1] if options.private else options.labels)]
        for player in range(game.players):
            reach(game.tree, player, once, strategy)
        weights += strategy
    return Policy(game, normalised(game, weights))


def histories_in(game: PublicGame) -> int:
    """The public histories of a game, those included where it is over."""
    count, waiting = 0, [game.first_state()]
    while waiting:
        state = waiting.pop()
        options, count = game.options(state), count + 1
        waiting += [game.after(state, label) for label in (options.labels[:1] if options.private else options.labels)]
    return count
