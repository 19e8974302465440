"""Registry of named agents, and creation of agents from texts."""

import inspect
import os
import re
import sys
from collections.abc import Mapping
from dataclasses import MISSING
from functools import cache
from typing import Any

import numpy as np

from treeplex.base.settings import NONE, declared
from treeplex.base.spec import Spec, nearest, parse_spec, shown, spec_name
from treeplex.base.wings import provided, provided_by_name
from treeplex.errors import SpecError
from treeplex.forms.compile.compile_game import compile_game, reuse
from treeplex.forms.compile.compiled_game import CompiledGame
from treeplex.forms.sources.load import load
from treeplex.forms.sources.user_module import is_user_spec, user_source
from treeplex.games.base import Game
from treeplex.run.job.folder import kind_of
from treeplex.run.policy_source import UNIFORM
from treeplex.run.solve.tree_game import policy_file
from treeplex.search.agents.agent import Agent, BaseAgent
from treeplex.search.agents.of_users import AGENT, drawing_with, is_agent, is_agent_class, load_agent, names_leaf
from treeplex.search.environments.guests import BotAgent, ObservingAgent
from treeplex.search.named_agents.common import policy_agent
from treeplex.search.named_agents.kind import AgentKind

ABOUT_SEARCH = ("think", "iterations")
"""Names of the settings that limit a search."""
PATIENCE = 2.0
"""Default seconds per decision against a person."""
TIME = re.compile(r"(?P<number>\d+\.?\d*|\.\d+) *(?P<unit>ms|s|min|)")
UNITS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "": 1.0}
"""Units of time in seconds, by their suffix."""


@cache
def agents() -> Mapping[str, AgentKind]:
    """Return the agents that ship with the library, by name."""
    kinds = provided("agents")
    known: list[AgentKind] = [kind(agent) if inspect.signature(kind).parameters else kind() for kind in kinds]
    return {made.name: made for made in known}


def agent(
    text: Any,
    game: str | Game | CompiledGame,
    *,
    think: float | str | None = None,
    seed: int | None = None,
    **settings: Any,
) -> Agent:
    """Create the agent specified by a text, ready to play.

    Args:
        text: ``name`` or ``name(key=value, ...)`` of :func:`agents`; a policy file, run folder or solved spot, played without
            search; ``rebel``, ``rebel:NAME``, a ReBeL training folder or network; a training folder of DeepStack networks or of
            a best response; or a custom ``file.py:NAME`` (an agent, an agent type or leaf values). It may also be an object: an
            agent or its class, any policy that :func:`treeplex.policies.as_policy` accepts, an OpenSpiel bot, or a function of
            observations (:class:`treeplex.environments.ObservingAgent`).
        game: the game; opponents need the same game object.
        think: time per decision, in seconds or as a text such as ``"2s"`` or ``"500ms"``; None for the agent's own setting.
        seed: random seed for its draws; None for a different one each time.
        settings: settings that override those in the text, by name.

    Raises:
        SpecError: the agent or parameter does not exist, or a value is invalid.
        GameError, PolicyError, FileError: the agent cannot play this game.
    """
    played, generator = load(game), np.random.default_rng(seed)
    if isinstance(game, CompiledGame):
        reuse(game)
    given = {name: value for name, value in settings.items() if value is not None}
    if think is not None:
        given["think"] = seconds_of(think)
    if isinstance(text, os.PathLike):
        text = os.fspath(text)
    if not isinstance(text, str):
        if given:
            raise SpecError(f"settings {', '.join(given)} do not apply to a {type(text).__name__}; leave them out")
        return agent_of(text, played, generator)
    if is_user_spec(text) and not names_kind(text):
        return own_agent(text, played, generator, given)
    kind, written = agent_kind(text)
    for name in ABOUT_SEARCH:
        if name in given and name not in declared(kind.settings):
            raise SpecError(f"{name} is a search setting, but agent {kind.name} does not search; leave it out")
    time = written.get("think")
    if isinstance(time, str) and time.strip().lower() != NONE:
        written["think"] = seconds_of(time)
    known = [name for name, declaration in declared(kind.settings).items() if declaration.limits.show]
    for name in given.keys() - declared(kind.settings).keys():
        raise SpecError(f"agent {kind.name} has no setting {name!r}{nearest(name, [*known, 'think', 'seed'])}")
    for name in written.keys() - declared(kind.settings).keys():
        raise SpecError(f"agent {kind.name} has no setting {name!r}{nearest(name, known) if known else ', nor any other'}")
    changes = kind.settings.read_changes(written, given)
    missing = [
        name for name, declaration in declared(kind.settings).items() if declaration.default is MISSING and name not in changes
    ]
    if missing:
        raise SpecError(f"agent {kind.name} needs {', '.join(missing)}; write, for example, {kind.example}")
    return kind.make(played, kind.settings(**changes), generator)


def usual_time(text: str, game: Game, iterations: int | None = None) -> float | None:
    """Default seconds per decision against a person, :data:`PATIENCE`; None if a limit is already set.

    Args:
        text: an agent, as for :func:`agent`.
        game: the game.
        iterations: requested iterations per search, if any.

    Raises:
        SpecError: the agent does not exist.
    """
    if iterations is not None:
        return None
    if is_user_spec(text) and not names_kind(text):
        return PATIENCE if names_leaf(text) else None
    kind, written = agent_kind(text)
    if written.keys() & set(ABOUT_SEARCH) or not kind.takes_time(game):
        return None
    return PATIENCE if declared(kind.settings)["think"].default is None else None


def agent_kind(text: str) -> tuple[AgentKind, dict[str, Any]]:
    """Return the agent type that a text specifies, and the settings in the text.

    Raises:
        SpecError: the agent does not exist.
    """
    if is_user_spec(text):
        source, user_spec = user_source(text, AGENT)
        if not names_kind(text):
            raise SpecError(f"{text} is not an agent type with settings; derive it from treeplex.arena.AgentKind")
        return source(), dict(user_spec.parameters)
    spec = spec_of(text)
    return agents()[spec.name], dict(spec.parameters)


def names_kind(text: str) -> bool:
    """Whether ``file.py:NAME`` is an agent type; executes the file."""
    source, _ = user_source(text, AGENT)
    return inspect.isclass(source) and issubclass(source, AgentKind)


def spec_of(text: str) -> Spec:
    """Return the name in :func:`agents` and the settings of the agent that a text specifies, including files and folders.

    Raises:
        SpecError: the agent does not exist.
    """
    text = text.strip()
    for meaning in provided("agent_texts"):
        spec = meaning(text)
        if spec is not None:
            wing_spec: Spec = spec
            return wing_spec
    if text not in agents() and is_policy(text):
        return Spec("blueprint", {"file": text})
    if text not in agents() and (entry := provided_by_name("played_folders").get(kind_of(text) or "")):
        name, _, setting = entry.partition(":")
        return Spec(name, {setting: text})
    spec = parse_spec(text)
    if spec.name not in agents():
        raise SpecError(f"unknown agent or policy file {shown(text)}{nearest(spec.name, agents())}; see treeplex agents")
    return spec


def names_agent(text: str) -> bool:
    """Whether a text specifies a built-in or custom agent rather than a policy (a file, a folder or ``uniform``)."""
    if is_user_spec(text):
        return True
    named = spec_name(text) in agents()
    return text != UNIFORM and not is_policy(text) and (named or kind_of(text) in provided_by_name("played_folders"))


def runs_program(text: str) -> bool:
    """Whether a text specifies an agent, or an agent within its settings, that runs a program outside this process."""
    if spec_name(text) not in agents():
        return False
    spec = parse_spec(text)
    return agents()[spec.name].external or any(runs_program(str(value)) for value in spec.parameters.values())


def files_of(text: str) -> list[str]:
    """Return the text, or for an agent with settings in parentheses their values, which may be files or folders."""
    if spec_name(text) not in agents():
        return [text]
    return [file for value in parse_spec(text).parameters.values() for file in files_of(str(value))]


def is_policy(text: str) -> bool:
    """Whether a text is a policy file, a run folder with one, or a solved spot."""
    return os.path.isfile(policy_file(text))


def agent_of(player: Any, game: Game, generator: np.random.Generator) -> Agent:
    """Convert an object, such as a policy or a bot, to an agent.

    Raises:
        PolicyError: the object cannot play, or is for another game.
    """
    if is_agent(player):
        instance: Agent = drawing_with(generator, player(game.public)) if is_agent_class(player) else player
        return instance
    pyspiel = sys.modules.get("pyspiel")
    if pyspiel is not None and isinstance(player, pyspiel.Bot):
        return BotAgent(game.public, compile_game(game), lambda seat: player, generator)
    if inspect.isroutine(player):
        return ObservingAgent(game.public, compile_game(game), player, generator)
    return policy_agent(game, player, generator)


def own_agent(text: str, game: Game, generator: np.random.Generator, given: Mapping[str, Any]) -> Agent:
    """Create the agent that ``file.py:NAME`` specifies, or a search agent with the leaf values that it specifies."""
    if names_leaf(text):
        search = agents()["search"]
        return search.make(game, search.settings(**search.settings.read_changes(given, {"leaf": text})), generator)
    custom = load_agent(text, game.public, generator)
    think = given.get("think")
    if set(given) - {"think"} or (think is not None and not isinstance(custom, BaseAgent)):
        raise SpecError(f"{', '.join(given)}: give settings of a custom agent in brackets, {text}(key=value)")
    if think is not None and isinstance(custom, BaseAgent):
        custom.think = think
    return custom


def seconds_of(time: float | str) -> float:
    """Convert a number or a text such as ``2s``, ``500ms`` or ``2`` to seconds.

    Raises:
        SpecError: the time is invalid or not above 0.
    """
    if isinstance(time, str):
        match = TIME.fullmatch(time.strip().lower())
        seconds = float(match["number"]) * UNITS[match["unit"]] if match else 0.0
    else:
        seconds = float(time)
    if not 0 < seconds < float("inf"):
        raise SpecError(f"the thinking time is {time!r}; give a time above 0, such as 2s, 500ms or 2")
    return seconds
