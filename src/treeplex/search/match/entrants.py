"""Entrants of a match: names, files and objects, as policy tables or agents."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import isclass
from typing import Any

import numpy as np

from treeplex.base.notices import tell
from treeplex.base.settings import declared
from treeplex.errors import GameError, GameSizeError, SpecError
from treeplex.forms.compile.compile_game import compile_game
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.policies.tabular import Policy
from treeplex.forms.sources.user_module import ObjectKind, is_user_spec, load_user_object
from treeplex.games.base import Game
from treeplex.run.judge import as_policy
from treeplex.run.policy_source import UNIFORM
from treeplex.search.agents.agent import Agent, TableAgent
from treeplex.search.agents.of_users import is_agent
from treeplex.search.evaluate.aivat import PolicyValues, ValueFunction
from treeplex.search.evaluate.checked_down import CheckedDownAivat
from treeplex.search.evaluate.tables import seat_policy, seated
from treeplex.search.match.settings import AUTOMATIC, CHECKED, ZERO
from treeplex.search.named_agents.registry import agent, agents, is_policy, spec_of
from treeplex.solvers import make_solver

MOST_HISTORIES = 2_000_000
"""Maximum number of histories of a game that is compiled for a match."""
MOST_INFOSETS = 5_000
"""Maximum number of infosets of a game in which a searching agent's policy is tabulated."""
MOST_SEQUENCES, VALUE_ITERATIONS = 200_000, 300
"""Maximum number of sequences of a game that is solved for a value function, and number of CFR+ iterations."""
VALUES = ObjectKind(
    "value function",
    "MyValues",
    "class of value functions, made with the public game, or function of a state and hands",
    lambda thing: isclass(thing) and "__call__" in vars(thing),
    lambda thing: callable(thing) and not isclass(thing),
)


def compiled_for_match(game: Game) -> CompiledGame | None:
    """The compiled game; None if its infosets cannot be enumerated or are too many for a match."""
    try:
        rules = game.enumerable_rules()
    except GameError:
        return None
    try:
        return compile_game(rules, limit=MOST_HISTORIES)
    except GameSizeError:
        return None


@dataclass(eq=False)
class Entrant:
    """A participant of a match.

    Attributes:
        name: its name in tables and files.
        source: a text as in ``treeplex match``, or an object.
        game: the game of the match.
        compiled: the compiled game, if small enough.
        think: seconds per decision, for an agent that searches.
        seed: random seed of its agents, for random numbers outside hands.
    """

    name: str
    source: Any
    game: Game
    compiled: CompiledGame | None
    think: float | None = None
    seed: int = 0
    _copies: dict[int, Agent] = field(default_factory=dict)

    @property
    def text(self) -> str | None:
        """The text that specifies it; None for an object."""
        return str(self.source) if isinstance(self.source, str | os.PathLike) else None

    @cached_property
    def table(self) -> Policy | None:
        """Its policy if it is a policy table, else None."""
        if is_agent(self.source) or (self.text is not None and not names_table(self.text)):
            made = self.agent(0)
            return made.table if isinstance(made, TableAgent) else None
        return None if self.compiled is None else as_policy(self.compiled, self.source)

    def agent(self, copy: int) -> Agent:
        """Create the entrant's agent; copies are independent unless the entrant is an object, which then plays all its
        seats.
        """
        if is_agent(self.source) and not isclass(self.source):
            agent: Agent = self.source
            return agent
        if copy not in self._copies:
            self._copies[copy] = self._made(copy)
        return self._copies[copy]

    @property
    def created(self) -> list[Agent]:
        """The agents created so far."""
        return list(self._copies.values())

    def _made(self, copy: int) -> Agent:
        if self.text is not None or isclass(self.source):
            seed = int(np.random.SeedSequence((self.seed, copy)).generate_state(1)[0])
            think = self.think if self.text and searches(self.text) else None
            return agent(self.source, self.game, think=think, seed=seed)
        if self.table is None:
            custom: Agent | None = self.game.public.policy_agent(self.source, None)
            if custom is not None:
                return custom
            raise SpecError(f"{self.game} is too large for a table of the policy {self.name}; name an agent instead")
        return TableAgent(self.game.public, self.table)

    @cached_property
    def enumerable(self) -> bool:
        """Whether its policy can be tabulated: in a small game, a policy table or an agent with a non-random policy."""
        game = self.compiled
        if game is None or self.table is not None:
            return game is not None
        made = self.agent(0)
        timed = self.think is not None or getattr(made, "think", None) is not None
        return not timed and getattr(made, "draws", None) is False and len(game.infostates) <= MOST_INFOSETS

    @cached_property
    def policies(self) -> tuple[Policy, ...] | None:
        """Its policy in each seat, if it is :attr:`enumerable` and raises no error; else None."""
        game = self.compiled
        if game is None or not self.enumerable:
            return None
        if self.table is not None:
            return (self.table,) * game.players
        tell(f"reading the policy of {self.name}")
        try:
            return tuple(seat_policy(self.agent(0), game, seat) for seat in range(game.players))
        except Exception:  # errors are reported hand by hand
            return None


def entrants_of(
    game: Game,
    compiled: CompiledGame | None,
    sources: Sequence[Any],
    think: float | None = None,
    named: Sequence[str] | None = None,
    seed: int = 0,
) -> tuple[Entrant, ...]:
    """Create the entrants, with unique names: those given as ``named``, or derived from their sources; ``seed`` is the match's.

    Raises:
        SpecError: an agent does not exist, or a thinking time is given although no agent searches.
    """
    texts = [str(source) for source in sources if isinstance(source, str | os.PathLike)]
    if think is not None and len(texts) == len(sources) and not any(map(searches, texts)):
        raise SpecError(f"none of the agents {', '.join(texts)} searches, so a thinking time has no effect; leave it out")
    names: list[str] = []
    for name in map(name_of, sources) if named is None else named:
        copies = sum(other == name or other.startswith(f"{name} (") for other in names)
        names.append(f"{name} ({copies + 1})" if copies else name)
    seeds = np.random.SeedSequence(seed).generate_state(len(sources))
    return tuple(
        Entrant(name, source, game, compiled, think, int(own)) for name, source, own in zip(names, sources, seeds, strict=True)
    )


def name_of(source: Any) -> str:
    """The entrant's name."""
    if isinstance(source, str | os.PathLike):
        return str(source)
    said = getattr(source, "name", None) or getattr(source, "algorithm", None)
    if isinstance(said, str):
        return said
    return "policy" if isinstance(source, Mapping) else getattr(source, "__name__", type(source).__name__)


def names_table(text: str) -> bool:
    """Whether a text names a policy table: ``uniform``, a policy file or a run folder with one."""
    return text == UNIFORM or is_policy(text)


def searches(text: str) -> bool:
    """Whether an agent supports a thinking time."""
    if is_user_spec(text) or names_table(text):
        return is_user_spec(text)
    return "think" in declared(agents()[spec_of(text).name].settings)


def checked_down(game: Game) -> CheckedDownAivat:
    """Create an AIVAT estimator with check-down values.

    Raises:
        SpecError: the game does not support check-down values.
    """
    public = game.public
    if not public.checks_down or public.players != 2:
        raise SpecError(f"{CHECKED} needs heads-up full-game hold'em, not {game}; give auto, zero, or a policy")
    return CheckedDownAivat(public)


def values_of(game: Game, compiled: CompiledGame | None, source: Any) -> tuple[ValueFunction | None, str]:
    """Create AIVAT's value function, and describe it.

    Args:
        game, compiled: the game of the match, compiled if small enough.
        source: ``auto`` for an approximate equilibrium in small games, else zero; ``zero``; a policy, agent or file as for
            entrants, for its values in self-play; ``file.py:NAME``, a function called with the public game; or a value
            function.

    Raises:
        SpecError: the source is unknown or does not fit the game.
    """
    played = game.public
    if isinstance(source, str) and source == ZERO:
        return None, "zero"
    if isinstance(source, str) and source == AUTOMATIC:
        if compiled is None or sum(compiled.sequences) > MOST_SEQUENCES or compiled.players > 2:
            return None, "zero"
        solver = make_solver(compiled, "cfr+")
        solver.run(VALUE_ITERATIONS)
        return PolicyValues(played, solver.average_policy()), f"of {VALUE_ITERATIONS} iterations of cfr+"
    if isinstance(source, str) and is_user_spec(source):
        made: ValueFunction = load_user_object(source, VALUES, played)
        return made, source
    if callable(source) and not is_agent(source):
        function: ValueFunction = source
        return function, name_of(source)
    entrant = Entrant(name_of(source), source, game, compiled)
    if compiled is None or (policies := entrant.policies) is None:
        whole = played.checks_down and game.num_players == 2
        others = f"{CHECKED}, zero, auto," if whole else "zero, auto,"
        raise SpecError(f"{entrant.name} has no values in {game}; give {others} or a custom function, file.py:NAME")
    return PolicyValues(played, seated(compiled, policies)), f"of {entrant.name}"
