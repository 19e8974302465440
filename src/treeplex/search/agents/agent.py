"""The agent protocol, for policies, searches, people and programs, and its base classes."""

import reprlib
from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from time import perf_counter
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from treeplex.base.arrays import Floats
from treeplex.base.notices import reporting, tell
from treeplex.engine.tree.sweeps import reach
from treeplex.errors import GameError, PolicyError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy, normalised, uniform_probabilities
from treeplex.forms.sources.load import public_game
from treeplex.games.base import CHANCE, TERMINAL, Game, on_one_line
from treeplex.games.public import PublicGame, State, pick
from treeplex.run.job.progress_line import clock
from treeplex.search.agents.explanation import Explanation
from treeplex.search.subgames.beliefs import Belief
from treeplex.search.subgames.policy_tables import sequences_at, table_at

PLAYS = 32
"""Default number of draws when the policy of an agent with a random policy is tabulated."""
ROUNDING = 1e-6
"""Tolerance for the sum of an agent's probabilities, which should be 1."""
Watch = Callable[[int, int, int], None]
"""Called with the number of histories processed, the total, and the number of subgames solved so far."""


class Thought(NamedTuple):
    """The search behind an agent's last policy.

    Attributes:
        iterations: number of search iterations; 0 for a cached search.
        seconds: wall-clock time.
        subgames: number of subgames solved.
        boards: in hold'em with blueprint continuations, number of complete boards evaluated per leaf; otherwise 0.
    """

    iterations: int
    seconds: float
    subgames: int = 1
    boards: int = 0


class Agent(Protocol):
    """Plays one or all seats of a public game; it receives a private hand only when asked for an action.

    Attributes:
        game: the current game, which defines the labels of events. It may change during a playthrough, when an action is added
            or the rest becomes a separate game; :meth:`begin` restores the original.
        state: the current public state.
    """

    game: PublicGame
    state: State

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """Start a new playthrough.

        Args:
            seat: the agent's player number; None for all.
            generator: random generator for its draws; None to keep the current one.
            at: the belief to start from, possibly in another game; None for the start of the agent's game.
        """

    def see(self, event: int) -> None:
        """Observe an event: a chance outcome or any player's action, including its own; any label for a private action.

        Raises:
            GameError: the event is impossible in this state.
        """

    def policy(self) -> Floats:
        """The policy for **all** hands, float64 [A, H]; uniform for impossible hands.

        Raises:
            GameError: no player is to act.
        """
        ...

    def act(self, hand: int) -> int:
        """Sample an action's label from :meth:`policy` for a hand; the action must then be passed to :meth:`see`.

        Raises:
            GameError: no player is to act, or the hand is impossible in this state.
        """
        ...


class BaseAgent:
    """Base class for agents: tracks the public state and samples actions from its policy.

    Attributes:
        game, state: see :class:`Agent`.
        player: the agent's seat; None if it plays all seats.
        generator: random generator for its draws.
        think: seconds per decision; None for no limit.
        thought: the search behind its last policy, a new object for each search; None if it did not search.
        draws: whether its policy itself is random, so that it differs between playthroughs; None if unknown.
        has_policy: whether :meth:`policy` reports probabilities; False for external programs that answer with actions only.
        about: one-line description; may be empty.
    """

    think: float | None = None
    thought: Thought | None = None
    draws: bool | None = None
    has_policy: bool = True
    about: str = ""

    def __init__(self, game: PublicGame | str | Game, generator: np.random.Generator | None = None) -> None:
        """Create an agent for a game, given as public states, a spec or rules; opponents need the same game object."""
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

    def finish(self, hands: Sequence[int]) -> None:
        """Observe the end of a playthrough, with every player's private hand; does nothing by default."""

    def close(self) -> None:
        """Release resources outside Python, such as a program; does nothing by default."""

    def remarks(self) -> list[str]:
        """Remarks for a match's result, such as replaced illegal actions."""
        return []

    def public_belief_state(self) -> Belief | None:
        """The agent's current public belief state; None if it keeps no beliefs."""
        return None

    def hand_values(self) -> Floats | None:
        """Value of each action with each hand of the player to act, float64 [A, H]; None if unknown.

        See :class:`treeplex.search.agents.explanation.Explanation`.
        """
        return None

    def search_effort(self) -> Thought | None:
        """Cost of the search behind the current policy, cached or not; None if it did not search."""
        return self.thought

    def explain(self) -> Explanation:
        """The agent's current beliefs, policy and values by hand; searches first if necessary.

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
        """Whether the game is over."""
        return self.game.options(self.state).player == TERMINAL

    def sit(self, seat: int | None, generator: np.random.Generator | None) -> None:
        """Set the seat and the random generator."""
        if seat is not None and not 0 <= seat < self.game.players:
            raise GameError(f"seat is {seat}; give 0 to {self.game.players - 1}")
        self.player, self.generator = seat, generator or self.generator

    def sit_at_first(self, seat: int | None, generator: np.random.Generator | None, at: Belief | None) -> None:
        """Set the seat of an agent that must observe the game from its start.

        Raises:
            GameError: ``at`` is not the start of the game.
        """
        if at is not None and at.state != self.game.first_state():
            raise GameError("the agent needs to observe the hand from its start; leave out 'at'")
        self.sit(seat, generator)

    def fork(self) -> Self:
        """Return an independent copy in the current state, with the same random draws; cached solutions may be shared.

        :meth:`Agent.see` must replace state instead of modifying it in place; a class that modifies its state must copy it
        here.
        """
        copied = copy(self)
        copied.generator = deepcopy(self.generator)
        return copied

    def check_acting(self) -> None:
        """Raise a :class:`GameError` if no player is to act."""
        if self.game.options(self.state).player < 0:
            raise GameError(f"no player acts at {self.game.name_of(self.state)}")

    def act(self, hand: int) -> int:
        """See :meth:`Agent.act`."""
        self.check_acting()
        options = self.game.options(self.state)
        possible = self.game.possible(self.state)[options.player]
        if not 0 <= hand < len(possible) or not possible[hand]:
            raise GameError(f"hand {hand} is impossible at {self.game.name_of(self.state)}")
        return options.labels[pick(self.generator, checked_policy(self)[:, hand])]


def checked_policy(agent: Agent | BaseAgent) -> Floats:
    """An agent's policy at its public state, float64 [A, H].

    Raises:
        PolicyError: wrong shape, or not a probability distribution for some possible hand.
    """
    game, state, policy = agent.game, agent.state, agent.policy()
    options = game.options(state)
    possible = game.possible(state)[options.player] > 0
    shape, method = (len(options.labels), len(possible)), f"{type(agent).__name__}.policy()"
    try:
        table = np.asarray(policy, np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.shape != shape:
        given = f"an array of shape {policy.shape}" if isinstance(policy, np.ndarray) else reprlib.repr(policy)
        raise PolicyError(
            f"{method} returned {given} at {game.name_of(state)}; return an array [actions, hands] of shape {shape}"
        )
    wrong = possible & ~((table >= 0).all(0) & (np.abs(table.sum(0) - 1.0) <= ROUNDING))
    if wrong.any():
        hand = int(np.argmax(wrong))
        try:
            where = f"infostate {game.infostate_at(state, options.player, hand)!r}"
        except GameError:  # infosets are not enumerated
            where = f"{game.name_of(state)} with {game.hand_name(state, options.player, hand)}"
        raise PolicyError(f"{method} returned {table[:, hand].tolist()} at {where}; return probabilities that sum to 1")
    return table


def fork(agent: Agent) -> Agent:
    """Return an independent copy of an agent in its current state, by :meth:`BaseAgent.fork` or a deep copy."""
    return agent.fork() if isinstance(agent, BaseAgent) else deepcopy(agent, {id(agent.game): agent.game})


class TableAgent(BaseAgent):
    """Plays a policy table."""

    draws = False

    def __init__(self, rules: PublicGame | str | Game, table: Policy, generator: np.random.Generator | None = None) -> None:
        """Create the agent.

        Args:
            rules: the public states of the table's game, for any number of players, or its spec or rules.
            table: the policy.
            generator: random generator for its draws.
        """
        super().__init__(rules, generator)
        self.rules, self.table = self.game, table
        self._at: Belief | None = None
        self._path: tuple[int, ...] = ()

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`Agent.begin`."""
        if at is not None and at.game is not self.rules:
            raise GameError("a policy table supports only its own game, but 'at' is a belief about another game; leave it out")
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
    """Plays the uniform policy in any game."""

    draws = False

    def begin(self, seat: int | None = None, generator: np.random.Generator | None = None, *, at: Belief | None = None) -> None:
        """See :meth:`Agent.begin`."""
        self.sit(seat, generator)
        self.game, self.state = (self._whole, self._whole.first_state()) if at is None else (at.game, at.state)

    def __init__(self, game: PublicGame, generator: np.random.Generator | None = None) -> None:
        """Create the agent for a game."""
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
    """Play one game between agents.

    Args:
        agents: the agent in each seat; an agent may sit in several.
        generator: random generator for deals and for the agents' seeds.
        hands: each player's hand; None to deal hands.

    Returns:
        The payoff of each player.

    Raises:
        GameError: the agents play different games.
    """
    game = agents[0].game
    for seat, agent in enumerate(agents):
        if agent not in agents[:seat]:
            agent.begin(None if list(agents).count(agent) > 1 else seat, np.random.default_rng(generator.integers(2**63)))
    game, state = agents[0].game, agents[0].state
    if any(agent.game is not game for agent in agents):
        raise GameError("the agents play different games; create all of them with the same game object")
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
    for seat, agent in enumerate(agents):
        if agent not in agents[:seat] and isinstance(agent, BaseAgent):
            agent.finish(held)
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
    """Tabulate an agent's policy at every infoset of a small game.

    The agent is restarted for every public history, and its policy there is read for all hands. An agent with a random policy,
    such as a :class:`treeplex.search.agents.searching.SearchAgent`, makes the same draws along histories with a common prefix.
    The table is then the mean over ``plays`` draws, weighted by own reach, and converges to the agent's policy as ``plays``
    grows.

    Args:
        agent: an agent of a game with infostate strings.
        game: the same game: a spec, rules or compiled.
        plays: number of draws; None for :data:`PLAYS` for agents that :attr:`draw <BaseAgent.draws>`, else one.
        seed: seed of the draws.
        watch: called after each public history with the number processed, the total, and the number of subgames solved.
        progress: False hides progress; None shows it on a terminal, see :func:`treeplex.solve`.

    Returns:
        The policy on the compiled game.

    Raises:
        GameError: infosets of the agent's game are not enumerated, or the agent's ``see`` does not change its state.
    """
    game = compile_game(game, progress=progress)
    count = (PLAYS if getattr(agent, "draws", False) else 1) if plays is None else plays
    with reporting(progress, "reading the agent's policy"):
        return drawn_policy(agent, game, count, seed, watch)


def drawn_policy(agent: Agent, game: CompiledGame, count: int, seed: int, watch: Watch | None) -> Policy:
    """The mean of an agent's policy over ``count`` draws; see :func:`agent_policy`."""
    weights, strategy = np.zeros((2, len(uniform_probabilities(game))))
    done = subgames = total = 0
    last: Thought | None = None
    began = perf_counter()
    for play in range(count):
        once, waiting = uniform_probabilities(game), [tuple[int, ...]()]
        while waiting:  # depth first: subgames cached along the path are reused
            path = waiting.pop()
            agent.begin(None, np.random.default_rng((seed, play)))
            rules = agent.game
            if not isinstance(rules, PublicGame):
                raise GameError(
                    f"an agent of {type(rules).__name__} has no policy table, which needs a public game; use playouts or a "
                    "match"
                )
            for label in path:
                before, name = agent.state, agent.game.name_of(agent.state)
                agent.see(label)
                if agent.state is before and agent.game.name_of(before) == name:
                    raise GameError(
                        f"{type(agent).__name__}.see({label}) leaves the agent at {name}; set self.state to the next state"
                    )
            options = rules.options(agent.state)
            if options.player >= 0:
                table = checked_policy(agent)
                for hand, sequences in sequences_at(game, rules, agent.state).items():
                    once[sequences] = table[:, hand]
            thought = getattr(agent, "thought", None)
            subgames += thought.subgames if thought is not None and thought is not last else 0
            last, done, total = thought, done + 1, total or count * histories_in(rules)
            if watch is not None:
                watch(done, total, subgames)
            draw = f"draw {play + 1} of {count}  " if count > 1 else ""
            solved = f"  {subgames:,} subgames solved" if subgames else ""
            left = clock((perf_counter() - began) / done * (total - done))
            tell(f"reading the agent's policy  {draw}{done:,}/{total:,} public histories{solved}  about {left} left")
            waiting += [(*path, label) for label in (options.labels[:1] if options.private else options.labels)]
        for player in range(game.players):
            reach(game.tree, player, once, strategy)
        weights += strategy
    return Policy(game, normalised(game, weights))


def histories_in(game: PublicGame) -> int:
    """Number of public histories of a game, including terminal ones."""
    count, waiting = 0, [game.first_state()]
    while waiting:
        state = waiting.pop()
        options, count = game.options(state), count + 1
        waiting += [game.after(state, label) for label in (options.labels[:1] if options.private else options.labels)]
    return count
